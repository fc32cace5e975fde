#pragma once

#include "producer/device.hpp"
#include "producer/egress/slot_source.hpp"
#include "producer/egress/strategy.hpp"

namespace tailrace {

/// `pool`: a synchronous copy into a slot of the ring.
class PoolEgress final : public EgressStrategy {
 public:
  PoolEgress(const Ring& ring, SlotSource& slots, Device& device);

  [[nodiscard]] bool submit(OutputBatch batch) override;
  void drain() override {}

 private:
  const Ring* ring_;
  SlotSource* slots_;
  Device* device_;
};

/// The batch's tensors as they will lie in a slot; offsets are set by plan_slot.
std::vector<TensorPlan> tensor_plans(const std::vector<OutputTensor>& tensors);

}  // namespace tailrace
