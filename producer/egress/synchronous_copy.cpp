#include "producer/egress/synchronous_copy.hpp"

#include "os/clock.hpp"
#include "os/failpoint.hpp"
#include "producer/egress/naming_batch.hpp"
#include "producer/egress/tensor_plans.hpp"

namespace tailrace {

std::optional<Filling> queue_for_slot(SlotSource& slots, BatchNumber batch) {
  const ScopedRange range(RangeKind::kQueue, batch);
  return slots.take();
}

void copy_and_publish(const Ring& ring, Device& device, Filling& filling, const OutputBatch& batch,
                      const SlotPlan& plan, std::uint64_t claimed_ns) {
  const ScopedRange range(RangeKind::kCopy, batch.number);
  describe(filling, batch, plan);
  failpoint("mid_copy");
  naming_batch(batch.number, [&] {
    for (std::size_t i = 0; i < plan.tensors.size(); ++i)
      device.copy_to_host(filling.bytes().subspan(plan.tensors[i].offset, plan.tensors[i].bytes),
                          batch.tensors[i].data);
  });
  const std::uint64_t copied_ns = monotonic_ns();
  filling.publish(claimed_ns, copied_ns);
  CounterBlock& counters = ring.producer().counters;
  counters.record(Stage::kEgressCopy, copied_ns - claimed_ns);
  counters.add(Counter::kStallComputeNs, copied_ns - claimed_ns);
}

}  // namespace tailrace
