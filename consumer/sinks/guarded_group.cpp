#include "consumer/sinks/guarded_group.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

#include "os/child_end.hpp"
#include "os/pipe.hpp"

namespace tailrace {
namespace {

// A program that was just forked still has the other end of the pipe, until it has joined the group and
// become itself: none can slip away.
constexpr const char* kGuard = "trap '' HUP INT TERM; read -r end || kill -KILL 0";

/// With nothing of this process but the streams that `spawn` says, the environment and the folder.
pid_t start_apart(Spawn& spawn, pid_t group, const std::string& program,
                  const std::vector<std::string>& command) {
  spawn.join_group(group);
  spawn.block_only({});
  spawn.handle_by_default({SIGPIPE, SIGXFSZ, SIGINT, SIGQUIT, SIGHUP, SIGTERM, SIGCHLD});
  spawn.close_all_but_streams();
  return spawn.start(program, command);
}

}  // namespace

GuardedGroup::~GuardedGroup() {
  if (guard_ == 0) return;
  if (::write(guard_ends_.get(), "\n", 1) != 1) ::kill(guard_, SIGKILL);
  guard_ends_.reset();
  wait_for_end(guard_);
}

pid_t GuardedGroup::start(Spawn& spawn, const std::string& program, const std::vector<std::string>& command) {
  if (!has_guard()) start_guard();
  return start_apart(spawn, guard_, program, command);
}

void GuardedGroup::kill() noexcept {
  if (guard_ == 0) return;
  ::kill(-guard_, SIGKILL);
  wait_for_end(guard_);
  guard_ = 0;
}

bool GuardedGroup::has_guard() noexcept {
  if (guard_ != 0 && ::waitpid(guard_, nullptr, WNOHANG) != 0) guard_ = 0;
  return guard_ != 0;
}

void GuardedGroup::start_guard() {
  Pipe pipe = make_pipe();
  guard_ends_ = std::move(pipe.write);
  Spawn spawn;
  spawn.redirect(pipe.read.get(), STDIN_FILENO);
  spawn.silence(STDOUT_FILENO);
  spawn.silence(STDERR_FILENO);
  guard_ = start_apart(spawn, 0, "/bin/sh", {"tailrace-guard", "-c", kGuard});
}

}  // namespace tailrace
