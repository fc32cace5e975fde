#include "producer/egress/pool.hpp"

#include <utility>

#include "shm/clock.hpp"

namespace tailrace {

std::vector<TensorPlan> tensor_plans(const std::vector<OutputTensor>& tensors) {
  std::vector<TensorPlan> plans;
  plans.reserve(tensors.size());
  for (const OutputTensor& tensor : tensors)
    plans.push_back({tensor.name, tensor.shape, tensor.per_row, tensor.span_bytes, 0});
  return plans;
}

PoolEgress::PoolEgress(const Ring& ring, SlotSource& slots, Device& device)
    : ring_(&ring), slots_(&slots), device_(&device) {}

bool PoolEgress::submit(OutputBatch batch) {
  const SlotPlan plan = plan_slot(batch.rows, tensor_plans(batch.tensors));
  auto filling = slots_->take();
  if (!filling) return false;
  const std::uint64_t claimed_ns = monotonic_ns();
  const auto slot = filling->bytes();
  try {
    write_descriptor(slot, batch.number, batch.rows, plan);
  } catch (...) {
    filling->abandon();  // nothing was enqueued
    throw;
  }
  // A copy that fails leaves the slot FILLING: it may still be running, and only the successor can tell.
  for (std::size_t i = 0; i < plan.tensors.size(); ++i)
    device_->copy_to_host(slot.subspan(plan.tensors[i].offset, plan.tensors[i].bytes), batch.tensors[i].data);
  const std::uint64_t copied_ns = monotonic_ns();
  filling->publish(claimed_ns, copied_ns);
  ring_->producer_counters().record(Stage::kEgressCopy, copied_ns - claimed_ns);
  return true;
}

}  // namespace tailrace
