#pragma once

#include <cstddef>
#include <functional>

#include "config/config.hpp"
#include "producer/device.hpp"
#include "producer/egress/pinned_slots.hpp"
#include "shm/ring_owner.hpp"

namespace tailrace {

/// The memory of a ring's slots, made ready for a strategy: allocated near the device, and pinned where
/// copies run beside the host's work, each slot while the next ones are allocated. Says so in the log and in
/// the producer's gauges. Copies end before this does; ring and device outlive it.
class RingMemory {
 public:
  /// Told how many slots are ready so far; may throw to give up.
  using OnSlot = std::function<void(std::size_t ready)>;

  /// Called once, before the first claim. Without pins it warns and goes on. Throws as RingOwner::populate.
  RingMemory(const RingOwner& owner, EgressStrategyKind strategy, Device& device, const OnSlot& on_slot = {});

 private:
  void populate(const RingOwner& owner, int numa_node, bool pinned, const OnSlot& on_slot);

  PinnedSlots pins_;
};

}  // namespace tailrace
