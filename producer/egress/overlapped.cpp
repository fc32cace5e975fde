#include "producer/egress/overlapped.hpp"

#include <spdlog/spdlog.h>

#include <utility>

#include "producer/egress/tensor_plans.hpp"
#include "producer/errors.hpp"
#include "shm/clock.hpp"

namespace tailrace {
namespace {

// Each slot by itself. Where one cannot be pinned, none is: a ring that is pinned in part would copy
// unevenly.
std::vector<std::unique_ptr<Pin>> pin_slots(const Ring& ring, Device& device) {
  std::vector<std::unique_ptr<Pin>> pins;
  const std::uint64_t start = monotonic_ns();
  try {
    for (std::uint32_t s = 0; s < ring.geometry().slot_count; ++s)
      pins.push_back(device.pin(ring.slot(SlotId{s})));
  } catch (const CannotPin& error) {
    pins.clear();
    spdlog::warn("the ring is NOT PINNED, copies will not overlap: {}", error.what());
    return pins;
  }
  spdlog::info("{} slots pinned in {:.1f} s", pins.size(), static_cast<double>(monotonic_ns() - start) / 1e9);
  return pins;
}

}  // namespace

OverlappedEgress::OverlappedEgress(const Ring& ring, SlotSource& slots, Device& device, CopyStream stream,
                                   std::chrono::nanoseconds spin)
    : slots_(&slots),
      pins_(pin_slots(ring, device)),
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
  const std::uint64_t claimed_ns = monotonic_ns();
  describe(*filling, batch, plan);
  std::vector<DeviceCopy> copies;
  for (std::size_t i = 0; i < plan.tensors.size(); ++i)
    copies.push_back(
        {filling->bytes().subspan(plan.tensors[i].offset, plan.tensors[i].bytes), batch.tensors[i].data});
  copier_->submit(index_of(filling->slot()), copies);
  return InFlight{*filling, std::move(batch), claimed_ns};
}

bool OverlappedEgress::submit(OutputBatch batch) {
  auto in_flight = enqueue(batch);
  if (!in_flight) return false;
  listener_.hand_over(std::move(*in_flight));
  return true;
}

}  // namespace tailrace
