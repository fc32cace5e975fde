#include "producer/egress/pinned_slots.hpp"

#include <spdlog/fmt/fmt.h>

#include "config/quantities.hpp"
#include "os/clock.hpp"
#include "producer/errors.hpp"

namespace tailrace {

PinnedSlots::PinnedSlots(const Ring& ring, Device& device) : ring_(&ring), device_(&device) {}

void PinnedSlots::pin(SlotId slot) {
  if (!failure_.empty()) return;
  const std::uint64_t start = monotonic_ns();
  try {
    pins_.push_back(device_->pin(ring_->slot(slot)));
  } catch (const CannotPin& error) {
    pins_.clear();
    const RingGeometry& geometry = ring_->geometry();
    failure_ = fmt::format(
        "{} (slot {} of {}, {} in all); raise the limit of locked memory (LimitMEMLOCK=infinity in the "
        "service, "
        "ulimit -l unlimited, --ulimit memlock=-1 for a container), or make the ring smaller (ring.slots, "
        "ring.slot_bytes)",
        error.what(), index_of(slot) + 1, geometry.slot_count,
        rounded_size_text(geometry.slot_count * geometry.slot_bytes));
  }
  busy_ns_ += monotonic_ns() - start;
}

}  // namespace tailrace
