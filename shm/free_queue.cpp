#include "shm/free_queue.hpp"

#include "os/clock.hpp"
#include "os/failpoint.hpp"

namespace tailrace {

void Filling::publish(std::uint64_t claimed_ns, std::uint64_t copied_ns) noexcept {
  const std::uint64_t now = monotonic_ns();
  write_stamps(bytes(), {claimed_ns, copied_ns, now});
  failpoint("before_publish");
  ring_->protocol().publish(slot_);
  failpoint("after_publish");
  ring_->ready_events().notify();
  ring_->producer().counters.record(Stage::kPublish, now - copied_ns);
  ring_->participants()[index_of(kProducerId)].batches.fetch_add(1, std::memory_order_relaxed);
}

void Filling::abandon() noexcept { ring_->protocol().abandon(slot_); }

FreeQueue::FreeQueue(const Ring& ring, Janitor& janitor, std::chrono::nanoseconds spin, BatchSeq next_seq)
    : ring_(&ring), janitor_(&janitor), spin_(spin), protocol_(ring.protocol()), next_seq_(next_seq) {}

std::optional<Filling> FreeQueue::try_claim() noexcept {
  if (exhausted()) return std::nullopt;
  const auto slot = protocol_.find_claimable();
  if (!slot) return std::nullopt;
  ControlHeader& header = ring_->header();
  if (protocol_.producer_word(*slot).state == ProducerState::kReady) {
    // The slot is the only other witness that its batch was published; the cursor must know before it goes.
    const std::uint64_t past = value_of(read_batch_number(ring_->slot(*slot))) + 1;
    if (header.cursor.load(std::memory_order_acquire) < past)
      header.cursor.store(past, std::memory_order_release);
  }
  const BatchSeq seq = next_seq_;
  next_seq_ = next(seq);
  header.next_seq.store(value_of(next_seq_), std::memory_order_release);
  protocol_.claim(*slot, seq);
  failpoint("after_claim");
  return Filling(*ring_, *slot, seq);
}

std::optional<Filling> FreeQueue::wait_claim(std::chrono::milliseconds timeout) {
  const std::uint64_t start = monotonic_ns();
  const std::uint32_t ticket = ring_->free_events().prepare();
  auto filling = try_claim();
  if (filling) return filling;
  ring_->free_events().wait(ticket, timeout, spin_);
  filling = try_claim();
  if (!filling && janitor_->do_work() > 0) filling = try_claim();
  ring_->producer().counters.add(Counter::kStallSlotNs, monotonic_ns() - start);
  return filling;
}

}  // namespace tailrace
