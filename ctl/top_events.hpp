#pragma once

#include <chrono>

#include "os/unique_fd.hpp"

namespace tailrace {

enum class TopEvent {
  kTime,     // nothing happened
  kRedraw,   // another size, or a key
  kSuspend,  // Ctrl-Z
  kQuit,     // q, a signal that ends programs, or nobody is there any more
};

/// What the person in front of `tailrace top` does. Takes SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGTSTP and
/// SIGWINCH over, for the whole process. Made before any other thread.
class TopEvents {
 public:
  /// Throws std::system_error.
  TopEvents();

  /// The next event within `timeout`.
  TopEvent wait(std::chrono::nanoseconds timeout);

 private:
  TopEvent read_signal() const;
  TopEvent read_keys();

  UniqueFd signals_;
  bool has_keys_;
};

}  // namespace tailrace
