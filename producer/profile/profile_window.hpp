#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "config/config.hpp"
#include "producer/profile/throughput.hpp"

namespace tailrace {

/// The steps that are measured: all, or `profile_steps` after `warmup_steps`; a profiler also sees
/// `cooldown_steps` more. Used by the model's thread.
class ProfileWindow {
 public:
  /// What happens at the borders; none may be empty.
  struct Actions {
    std::function<bool()> drain;  // until nothing is in flight; false: a stop came in between
    std::function<ThroughputSample()> sample;
    std::function<void()> on_begin;                 // nothing is in flight
    std::function<void(const Throughput&)> on_end;  // nothing is in flight
    std::function<void()> on_cooled_down;
    std::function<void()> on_missed;  // the run ended before the window had a step
  };

  ProfileWindow(const ProfileConfig& config, Actions actions);

  /// Called before each step.
  void before_step();
  /// Called after the last step.
  void finish();

 private:
  void begin();
  void end();
  void cool_down();

  ProfileConfig config_;
  Actions actions_;
  std::uint64_t steps_ = 0;  // begun so far
  std::optional<ThroughputSample> begin_;
  bool measured_ = false;
  bool warm_ = false;  // between on_begin and on_cooled_down
};

}  // namespace tailrace
