#pragma once

namespace tailrace {

/// What the producer's main loop and its device did during an interval, as shares of it, 0…1.
struct ProducerShares {
  double waits_input = 0;   // the loop waited for decoded input
  double waits_slot = 0;    // … for a free slot, or for the consumers to be through
  double waits_device = 0;  // … for the device; the rest of its time is its own work
  double device_busy = 0;   // the device was in the model

  /// Launching the model, describing slots.
  [[nodiscard]] double own_work() const noexcept;
  /// Beyond the model's own time: what else the loop waits for the device for, copies above all.
  [[nodiscard]] double waits_beyond_model() const noexcept;
  /// The longest of the waits during which the device could have been in the model.
  [[nodiscard]] double longest_wait() const noexcept;
};

/// What limits a pipeline, as its producer sees it.
enum class Limit {
  kModel,  // the device is in it all the time, or no wait is worth a change
  kLoop,   // the main loop's own work
  kInput,
  kSlots,
  kDevice,  // ProducerShares::waits_beyond_model()
};

/// A device that is busy for so long has no time left.
inline constexpr double kAlwaysShare = 0.95;
/// What takes less is not worth a change.
inline constexpr double kNoticeableShare = 0.05;

/// The one judgement behind the producer's status, its throughput report and `tailrace doctor`;
/// docs/doctor.md says it in words. Pure.
Limit limit_of(const ProducerShares& shares) noexcept;

}  // namespace tailrace
