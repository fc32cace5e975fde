#pragma once

#include <chrono>

#include "os/unique_fd.hpp"

namespace tailrace {

/// SIGINT, SIGTERM, SIGHUP and SIGCHLD of this process, as something to wait for: what was started can then
/// be ended and cleaned up. One per process, in its only thread, made before anything is started; children of
/// fork() have them blocked.
class ChildSignals {
 public:
  /// Throws std::system_error.
  ChildSignals();

  /// Returns when one of them arrives, at the latest after `timeout`: the one that came and asks to stop,
  /// else 0.
  int wait(std::chrono::milliseconds timeout) const;

  /// The same, but throws BenchError with the exit code of an interrupted program where one asks to stop.
  void wait_or_throw(std::chrono::milliseconds timeout) const;

 private:
  UniqueFd fd_;
};

/// What a program exits with when `signal` has ended its work; the message says so.
[[noreturn]] void throw_interrupted(int signal);

}  // namespace tailrace
