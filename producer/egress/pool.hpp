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

}  // namespace tailrace
