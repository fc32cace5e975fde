#include "consumer/sinks/guarded_group.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "consumer/sinks/spawn_settings.hpp"
#include "files/io_error.hpp"

namespace tailrace {
namespace {

// A program that was just forked still has the other end of the pipe, until it has joined the group and
// become itself: none can slip away.
constexpr const char* kGuard = "trap '' HUP INT TERM; read -r end || kill -KILL 0";

void reap(pid_t pid) noexcept {
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

GuardedGroup::~GuardedGroup() {
  if (guard_ == 0) return;
  if (::write(guard_ends_.get(), "\n", 1) != 1) ::kill(guard_, SIGKILL);
  guard_ends_.reset();
  reap(guard_);
}

pid_t GuardedGroup::id() {
  if (!has_guard()) start_guard();
  return guard_;
}

void GuardedGroup::kill() noexcept {
  if (guard_ == 0) return;
  ::kill(-guard_, SIGKILL);
  reap(guard_);
  guard_ = 0;
}

bool GuardedGroup::has_guard() noexcept {
  if (guard_ != 0 && ::waitpid(guard_, nullptr, WNOHANG) != 0) guard_ = 0;
  return guard_ != 0;
}

void GuardedGroup::start_guard() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw_io_error(errno, "open", "a pipe");
  const UniqueFd input(ends[0]);
  guard_ends_ = UniqueFd(ends[1]);
  SpawnSettings settings(0);
  settings.redirect(input, STDIN_FILENO);
  settings.silence(STDOUT_FILENO);
  settings.silence(STDERR_FILENO);
  guard_ = settings.spawn("/bin/sh", {"tailrace-guard", "-c", kGuard});
}

}  // namespace tailrace
