#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "consumer/sinks/guarded_group.hpp"
#include "os/unique_fd.hpp"

namespace tailrace {

/// Path of the program that `command` means: itself where it holds a "/", else the first match in PATH.
/// Throws FileError where there is no such executable file.
std::string find_program(const std::string& command);

/// A program that is fed through its standard input. It runs in a process group that dies with this process
/// (a terminal's Ctrl-C does not reach it), with default signal handling and no descriptor of ours but 0, 1
/// and 2. Its standard error is passed on to ours, and its last line kept for messages. Used by one thread,
/// with SIGPIPE ignored. Errors: FileError where no process can be started; std::runtime_error for what the
/// program does.
class ChildProcess {
 public:
  /// `timeout` counts from here, over everything; 0 = none. When it is over the process group is killed.
  /// `group`: outlives this object.
  ChildProcess(const std::string& program, const std::vector<std::string>& argv,
               std::chrono::milliseconds timeout, GuardedGroup& group);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  /// Kills the process group and reaps the program, if `finish` did not.
  ~ChildProcess();

  /// False: the program has closed its standard input or ended, which is its right.
  bool write(std::span<const std::byte> bytes);
  /// Closes the program's standard input and waits for its end. Returns on exit status 0, else throws.
  void finish();

 private:
  static constexpr int kLogPatienceMs = 1000;

  void wait_for_event(bool writable);
  [[nodiscard]] int remaining_ms() const;
  void read_errors();
  void pass_on(std::span<const std::byte> piece);
  void reap();
  [[nodiscard]] std::string last_line() const;

  std::string program_;
  GuardedGroup* group_;
  std::optional<std::chrono::steady_clock::time_point> deadline_;
  UniqueFd input_;  // non-blocking ends of its pipes
  UniqueFd errors_;
  UniqueFd pidfd_;
  pid_t pid_ = -1;  // -1 = reaped
  int status_ = 0;  // of waitpid
  std::string tail_;
  int log_patience_ms_ = kLogPatienceMs;
};

}  // namespace tailrace
