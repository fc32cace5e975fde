#include "shm/limit.hpp"

#include <algorithm>

namespace tailrace {
namespace {

constexpr double kMostlyOwn = 0.5;  // of the main loop's time

}  // namespace

double ProducerShares::own_work() const noexcept {
  return std::clamp(1 - waits_input - waits_slot - waits_device, 0.0, 1.0);
}

double ProducerShares::waits_beyond_model() const noexcept {
  return std::max(0.0, waits_device - device_busy);
}

double ProducerShares::longest_wait() const noexcept {
  return std::max({waits_input, waits_slot, waits_beyond_model()});
}

Limit limit_of(const ProducerShares& shares) noexcept {
  const double own = shares.own_work();
  const double most = shares.longest_wait();
  if (shares.device_busy >= kAlwaysShare) {
    // A loop that never waits for a device that is always busy does not launch fast enough: the device's time
    // is that from the first to the last of the model's kernels.
    return own > 1 - kNoticeableShare ? Limit::kLoop : Limit::kModel;
  }
  if (own >= kMostlyOwn && own > most) return Limit::kLoop;
  if (most < kNoticeableShare) return Limit::kModel;
  if (shares.waits_input == most) return Limit::kInput;
  return shares.waits_slot == most ? Limit::kSlots : Limit::kDevice;
}

}  // namespace tailrace
