#include "producer/egress/workers.hpp"

#include "os/clock.hpp"
#include "producer/egress/synchronous_copy.hpp"
#include "producer/egress/tensor_plans.hpp"
#include "shm/slot_renewal.hpp"

namespace tailrace {
namespace {

void renew(const Ring& ring, Filling& filling, std::uint64_t bytes) {
  try {
    renew_slot(ring, filling.slot(), bytes);
  } catch (...) {
    filling.abandon();
    throw;
  }
}

}  // namespace

WorkersEgress::WorkersEgress(const Ring& ring, SlotSource& slots, Device& device)
    : ring_(&ring), slots_(&slots), device_(&device) {}

bool WorkersEgress::submit(OutputBatch batch) {
  const SlotPlan plan = plan_slot(batch.rows, tensor_plans(batch.tensors));
  auto filling = queue_for_slot(*slots_, batch.number);
  if (!filling) return false;
  const std::uint64_t claimed_ns = monotonic_ns();
  renew(*ring_, *filling, plan.total_bytes);
  copy_and_publish(*ring_, *device_, *filling, batch, plan, claimed_ns);
  return true;
}

}  // namespace tailrace
