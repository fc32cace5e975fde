#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace tailrace {

/// One process of the pipeline: a child in a process group of its own, so that a terminal's Ctrl-C does not
/// reach it, told by TAILRACE_SUPERVISOR whose child it is. Does nothing to the process when destroyed: it
/// notices by itself that its supervisor is gone.
class Child {
 public:
  /// `command`: program and arguments. A descriptor < 0: the process shares this one's stream.
  Child(std::string title, std::vector<std::string> command, int stderr_fd, int stdout_fd = -1);

  /// Precondition: not running. Throws FileError.
  void start();
  /// Its exit code, or 128 + the signal that killed it, once; empty: it still runs.
  [[nodiscard]] std::optional<int> try_reap();
  void send(int signal) const noexcept;
  /// Kills it and what it has started, unless that moved to a group of its own.
  void kill_group() const noexcept;

  [[nodiscard]] bool running() const noexcept { return pid_ > 0; }
  /// Of the present or the last process.
  [[nodiscard]] pid_t pid() const noexcept { return last_pid_; }
  [[nodiscard]] const std::string& title() const noexcept { return title_; }

 private:
  std::string title_;
  std::vector<std::string> command_;
  int stderr_fd_;
  int stdout_fd_;
  pid_t pid_ = 0;
  pid_t last_pid_ = 0;
};

/// A program of the project: the one beside the running one, else to be found in PATH.
std::string find_sibling(const std::string& program);

}  // namespace tailrace
