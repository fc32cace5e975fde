#pragma once

#include <chrono>

#include "shm/unique_fd.hpp"

namespace tailrace {

/// SIGINT, SIGTERM and SIGCHLD of this process, as something to wait for: what was started can then be ended
/// and cleaned up. One per process, in its only thread, made before anything is started; children of fork()
/// have the three blocked.
class ChildSignals {
 public:
  /// Throws std::system_error.
  ChildSignals();

  /// Returns when one of the three arrives, at the latest after `timeout`: the SIGINT or SIGTERM that came,
  /// else 0.
  int wait(std::chrono::milliseconds timeout) const;

  /// The same, but throws BenchError with the exit code of an interrupted program for SIGINT and SIGTERM.
  void wait_or_throw(std::chrono::milliseconds timeout) const;

 private:
  UniqueFd fd_;
};

/// What a program exits with when `signal` has ended its work; the message says so.
[[noreturn]] void throw_interrupted(int signal);

}  // namespace tailrace
