#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "config/config.hpp"
#include "producer/throughput.hpp"

namespace tailrace {

/// The steps that are measured: all, or `profile_steps` after `warmup_steps`, which a profiler then also
/// sees, together with `cooldown_steps` more. Used by the model's thread.
class ProfileWindow {
 public:
  /// What happens at the borders; none may be empty.
  struct Actions {
    std::function<bool()> drain;  // until nothing is in flight; false: a stop came in between
    std::function<ThroughputSample()> sample;
    std::function<void()> start_capture;
    std::function<void()> stop_capture;
    std::function<void(const Throughput&)> report;
  };

  ProfileWindow(const ProfileConfig& config, Actions actions);

  /// Called before each step.
  void before_step();
  /// Called after the last step, when nothing is in flight any more.
  void finish();

 private:
  void begin();
  void end();
  void stop_capture();

  ProfileConfig config_;
  Actions actions_;
  std::uint64_t steps_ = 0;  // begun so far
  std::optional<ThroughputSample> begin_;
  bool capturing_ = false;
};

}  // namespace tailrace
