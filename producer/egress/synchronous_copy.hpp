#pragma once

#include <cstdint>
#include <optional>

#include "producer/device.hpp"
#include "producer/egress/slot_source.hpp"
#include "producer/egress/strategy.hpp"
#include "shm/descriptor.hpp"
#include "shm/free_queue.hpp"

namespace tailrace {

/// As SlotSource::take, for `batch`.
std::optional<Filling> queue_for_slot(SlotSource& slots, BatchNumber batch);

/// Describes the batch in the slot, copies it while the caller waits, and publishes it. Called by the thread
/// that runs the model. Throws SlotTooSmall (the slot is given up), and CudaError: then the slot stays
/// FILLING, because the copy may still be running, and only the next producer can tell.
void copy_and_publish(const Ring& ring, Device& device, Filling& filling, const OutputBatch& batch,
                      const SlotPlan& plan, std::uint64_t claimed_ns);

}  // namespace tailrace
