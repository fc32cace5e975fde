#include "producer/egress/pool.hpp"

#include <optional>
#include <utility>

#include "producer/egress/tensor_plans.hpp"
#include "shm/clock.hpp"

namespace tailrace {

PoolEgress::PoolEgress(const Ring& ring, SlotSource& slots, Device& device)
    : ring_(&ring), slots_(&slots), device_(&device) {}

bool PoolEgress::submit(OutputBatch batch) {
  const SlotPlan plan = plan_slot(batch.rows, tensor_plans(batch.tensors));
  std::optional<Filling> filling;
  {
    const ScopedRange range(RangeKind::kQueue, batch.number);
    filling = slots_->take();
  }
  if (!filling) return false;
  const ScopedRange range(RangeKind::kCopy, batch.number);
  const std::uint64_t claimed_ns = monotonic_ns();
  describe(*filling, batch, plan);
  // A copy that fails leaves the slot FILLING: it may still be running, and only the successor can tell.
  for (std::size_t i = 0; i < plan.tensors.size(); ++i)
    device_->copy_to_host(filling->bytes().subspan(plan.tensors[i].offset, plan.tensors[i].bytes),
                          batch.tensors[i].data);
  const std::uint64_t copied_ns = monotonic_ns();
  filling->publish(claimed_ns, copied_ns);
  ring_->producer().counters.record(Stage::kEgressCopy, copied_ns - claimed_ns);
  return true;
}

}  // namespace tailrace
