#pragma once

#include <vector>

#include "producer/egress/strategy.hpp"
#include "shm/descriptor.hpp"
#include "shm/free_queue.hpp"

namespace tailrace {

/// The batch's tensors as they will lie in a slot; offsets are set by plan_slot.
std::vector<TensorPlan> tensor_plans(const std::vector<OutputTensor>& tensors);

/// Writes the batch's descriptor into a slot that nothing is copied into yet; gives the slot up where that
/// fails. Throws SlotTooSmall.
void describe(Filling& filling, const OutputBatch& batch, const SlotPlan& plan);

}  // namespace tailrace
