#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>

namespace tailrace {

/// One wait for a lock that somebody else holds: pauses that grow, and about once a second the question
/// whether to go on. Used by one thread.
class Patience {
 public:
  using KeepWaiting = std::function<bool(std::chrono::milliseconds waited)>;

  /// `keep_waiting` outlives this; empty: for as long as it takes.
  explicit Patience(const KeepWaiting& keep_waiting) : keep_waiting_(keep_waiting) {}

  /// False: no longer.
  bool wait() {
    std::this_thread::sleep_for(pause_);
    pause_ = std::min(2 * pause_, kLongestPause);
    const auto now = Clock::now();
    if (now - asked_ < kAskEvery) return true;
    asked_ = now;
    return !keep_waiting_ || keep_waiting_(waited());
  }
  [[nodiscard]] std::chrono::milliseconds waited() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - since_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::microseconds kLongestPause{5000};
  static constexpr std::chrono::seconds kAskEvery{1};

  const KeepWaiting& keep_waiting_;
  const Clock::time_point since_ = Clock::now();
  Clock::time_point asked_ = since_;
  std::chrono::microseconds pause_{50};
};

}  // namespace tailrace
