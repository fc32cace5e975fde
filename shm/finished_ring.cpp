#include "shm/finished_ring.hpp"

#include <chrono>

#include "shm/participant.hpp"
#include "shm/ring_owner.hpp"

namespace tailrace {
namespace {

constexpr std::chrono::milliseconds kWait{100};

// A producer that drained by itself has died: the next one opens the ring again.
bool is_cut_short(const Ring& ring) {
  return !LockLiveness(ring).is_held(kProducerId) &&
         ring.header().drain_requested.load(std::memory_order_acquire) == 0 &&
         value_of(start_of(ring).next) < ring.geometry().items.batch_count();
}

}  // namespace

LeaseOutcome confirm_finished(const Ring& ring, ReadyQueue& queue, Lease& lease) {
  const std::uint32_t ticket = ring.ready_events().prepare();
  if (is_cut_short(ring)) {
    ring.ready_events().wait(ticket, kWait, std::chrono::nanoseconds(0));
    return LeaseOutcome::kEmpty;
  }
  // [reopen]: the byte that is held may be a successor's. It has opened the ring before it took the byte, so
  // the state tells; and the words come last, for what it published.
  return queue.try_lease(lease);
}

}  // namespace tailrace
