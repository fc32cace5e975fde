#pragma once

#include <memory>
#include <optional>

#include "producer/copier.hpp"
#include "producer/device.hpp"
#include "producer/egress/listener.hpp"
#include "producer/egress/slot_source.hpp"
#include "producer/egress/strategy.hpp"

namespace tailrace {

/// `async` and `streams`: the copy into a pinned slot runs while the host prepares the next batch; with
/// `streams` (CopyStream::kEgress) also while the device computes it. A listener publishes the slots.
class OverlappedEgress final : public EgressStrategy {
 public:
  /// The slots are pinned where they can be: see RingMemory. `spin`: see Listener.
  OverlappedEgress(const Ring& ring, SlotSource& slots, Device& device, CopyStream stream,
                   std::chrono::nanoseconds spin);

  [[nodiscard]] bool submit(OutputBatch batch) override;
  void drain() override { listener_.drain(); }
  [[nodiscard]] Flow flow() override { return listener_.flow(); }
  void set_spin(std::chrono::nanoseconds spin) override { listener_.set_spin(spin); }

 private:
  /// Puts the batch's copies into a free slot on their way. Empty: the wait for one was given up.
  std::optional<InFlight> enqueue(OutputBatch& batch);

  SlotSource* slots_;
  std::unique_ptr<Copier> copier_;
  Listener listener_;
};

}  // namespace tailrace
