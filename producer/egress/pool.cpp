#include "producer/egress/pool.hpp"

#include "os/clock.hpp"
#include "producer/egress/synchronous_copy.hpp"
#include "producer/egress/tensor_plans.hpp"

namespace tailrace {

PoolEgress::PoolEgress(const Ring& ring, SlotSource& slots, Device& device)
    : ring_(&ring), slots_(&slots), device_(&device) {}

bool PoolEgress::submit(OutputBatch batch) {
  const SlotPlan plan = plan_slot(batch.rows, tensor_plans(batch.tensors));
  auto filling = queue_for_slot(*slots_, batch.number);
  if (!filling) return false;
  copy_and_publish(*ring_, *device_, *filling, batch, plan, monotonic_ns());
  return true;
}

}  // namespace tailrace
