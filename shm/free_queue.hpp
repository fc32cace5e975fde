#pragma once

#include <chrono>
#include <optional>
#include <span>

#include "shm/descriptor.hpp"
#include "shm/janitor.hpp"
#include "shm/ring.hpp"

namespace tailrace {

class FreeQueue;

/// A slot that the producer fills. It has no destructor that frees the slot, on purpose: a copy into it may
/// still be running, and then only the next producer may recycle it, once this process is gone.
class Filling {
 public:
  [[nodiscard]] SlotId slot() const noexcept { return slot_; }
  [[nodiscard]] BatchSeq seq() const noexcept { return seq_; }
  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return ring_->slot(slot_); }

  /// Makes the slot visible. Precondition: descriptor and tensors are in place (their copies have completed).
  /// Called in the order of the batches; any one thread.
  void publish(std::uint64_t claimed_ns, std::uint64_t copied_ns) noexcept;
  /// Precondition: no copy was enqueued, or it has completed without error.
  void abandon() noexcept;

 private:
  friend class FreeQueue;
  Filling(const Ring& ring, SlotId slot, BatchSeq seq) noexcept : ring_(&ring), slot_(slot), seq_(seq) {}

  const Ring* ring_;
  SlotId slot_;
  BatchSeq seq_;
};

/// The queue of free buffers: a view of the slots' words. Used by one thread of the producer.
class FreeQueue {
 public:
  /// `next_seq`: greater than every seq in the ring.
  FreeQueue(const Ring& ring, Janitor& janitor, std::chrono::nanoseconds spin, BatchSeq next_seq);

  /// Claims a slot whose batch is done for every group. Empty: none at present.
  [[nodiscard]] std::optional<Filling> try_claim() noexcept;
  /// The same, but waits up to `timeout`; a wait in vain ends with a janitor pass and a last look.
  [[nodiscard]] std::optional<Filling> wait_claim(std::chrono::milliseconds timeout);
  /// How long a wait looks busily before it sleeps, from now on.
  void set_spin(std::chrono::nanoseconds spin) noexcept { spin_ = spin; }
  /// The sequence numbers are used up (127 days at 100,000 batches/s): drain and make a new ring.
  [[nodiscard]] bool exhausted() const noexcept { return next_seq_ >= kLastSeq; }

 private:
  const Ring* ring_;
  Janitor* janitor_;
  std::chrono::nanoseconds spin_;
  SlotProtocol protocol_;
  BatchSeq next_seq_;
};

}  // namespace tailrace
