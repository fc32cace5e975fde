#pragma once

#include "producer/device.hpp"
#include "producer/egress/slot_source.hpp"
#include "producer/egress/strategy.hpp"

namespace tailrace {

/// `workers`: a synchronous copy into a slot whose memory is made anew for each batch, as if each had a
/// shared-memory object of its own (docs/decisions/0005). The ring needs no memory before.
class WorkersEgress final : public EgressStrategy {
 public:
  WorkersEgress(const Ring& ring, SlotSource& slots, Device& device);

  /// Also throws std::system_error, ENOSPC, where the file system has no room for the batch.
  [[nodiscard]] bool submit(OutputBatch batch) override;
  void drain() override {}

 private:
  const Ring* ring_;
  SlotSource* slots_;
  Device* device_;
};

}  // namespace tailrace
