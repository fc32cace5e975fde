#include "ctl/child.hpp"

#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <system_error>
#include <utility>

#include "os/child_end.hpp"
#include "os/spawn.hpp"

namespace tailrace {

Child::Child(std::string title, std::vector<std::string> command, int stderr_fd, int stdout_fd)
    : title_(std::move(title)), command_(std::move(command)), stderr_fd_(stderr_fd), stdout_fd_(stdout_fd) {}

void Child::start() {
  Spawn spawn;
  spawn.join_group(0);
  spawn.block_only({SIGHUP});  // a reload waits until the program can do it
  spawn.handle_by_default({SIGPIPE});
  spawn.set_variable("TAILRACE_SUPERVISOR", std::to_string(getpid()));
  spawn.silence(STDIN_FILENO);
  if (stderr_fd_ >= 0) spawn.redirect(stderr_fd_, STDERR_FILENO);
  if (stdout_fd_ >= 0) spawn.redirect(stdout_fd_, STDOUT_FILENO);
  pid_ = spawn.start(command_.front(), command_);
  last_pid_ = pid_;
}

std::optional<int> Child::try_reap() {
  const auto status = pid_ > 0 ? end_of(pid_) : std::nullopt;
  if (!status) return std::nullopt;
  pid_ = 0;
  return exit_code_of_status(*status);
}

void Child::send(int signal) const noexcept {
  if (pid_ > 0) ::kill(pid_, signal);
}

void Child::kill_group() const noexcept {
  if (pid_ > 0) ::kill(-pid_, SIGKILL);
}

std::string find_sibling(const std::string& program) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto beside = self.parent_path() / program;
  return !error && access(beside.c_str(), X_OK) == 0 ? beside.string() : program;
}

}  // namespace tailrace
