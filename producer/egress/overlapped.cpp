#include "producer/egress/overlapped.hpp"

#include <spdlog/spdlog.h>

#include <utility>

#include "os/clock.hpp"
#include "producer/egress/naming_batch.hpp"
#include "producer/egress/tensor_plans.hpp"

namespace tailrace {

OverlappedEgress::OverlappedEgress(const Ring& ring, SlotSource& slots, Device& device, CopyStream stream,
                                   std::chrono::nanoseconds spin)
    : slots_(&slots),
      copier_(device.make_copier(stream, ring.geometry().slot_count)),
      listener_(ring, *copier_, kMaxHeld - 1, spin) {
  if (!device.is_cuda()) spdlog::info("no GPU: a copy thread takes the place of the egress stream");
}

std::optional<InFlight> OverlappedEgress::enqueue(OutputBatch& batch) {
  const ScopedRange range(RangeKind::kQueue, batch.number);
  const SlotPlan plan = plan_slot(batch.rows, tensor_plans(batch.tensors));
  listener_.wait_for_room();
  auto filling = slots_->take();
  if (!filling) return std::nullopt;
  describe(*filling, batch, plan);
  std::vector<DeviceCopy> copies;
  for (std::size_t i = 0; i < plan.tensors.size(); ++i)
    copies.push_back(
        {filling->bytes().subspan(plan.tensors[i].offset, plan.tensors[i].bytes), batch.tensors[i].data});
  const std::uint64_t claimed_ns = monotonic_ns();
  naming_batch(batch.number, [&] { copier_->submit(index_of(filling->slot()), copies); });
  return InFlight{*filling, std::move(batch), claimed_ns};
}

bool OverlappedEgress::submit(OutputBatch batch) {
  auto in_flight = enqueue(batch);
  if (!in_flight) return false;
  listener_.hand_over(std::move(*in_flight));
  return true;
}

}  // namespace tailrace
