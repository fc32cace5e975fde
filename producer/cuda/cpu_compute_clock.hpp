#pragma once

#include <deque>

#include "producer/compute_clock.hpp"

namespace tailrace {

/// On the CPU a model has computed when it returns.
class CpuComputeClock final : public ComputeClock {
 public:
  void start() override { begun_ = Clock::now(); }
  void stop() override { ended_.push_back(Clock::now() - begun_); }
  [[nodiscard]] std::optional<std::chrono::nanoseconds> take() override {
    if (ended_.empty()) return std::nullopt;
    const std::chrono::nanoseconds duration = ended_.front();
    ended_.pop_front();
    return duration;
  }

  [[nodiscard]] bool caller_waits() const override { return true; }

 private:
  using Clock = std::chrono::steady_clock;

  Clock::time_point begun_;
  std::deque<std::chrono::nanoseconds> ended_;
};

}  // namespace tailrace
