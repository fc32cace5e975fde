#include "shm/oldest_lease.hpp"

#include "os/clock.hpp"
#include "shm/participant.hpp"

namespace tailrace {

std::optional<LeaseReport> find_oldest_lease(const Ring& ring, GroupId group) {
  std::optional<LeaseReport> oldest;
  const SlotProtocol protocol = ring.protocol();
  for (std::uint32_t s = 0; s < ring.geometry().slot_count; ++s) {
    const GroupWord word = protocol.group_word(SlotId{s}, group);
    if (word.state != GroupState::kLeased) continue;
    // The stamp follows the word: until then the lease is as good as new.
    const LeaseStamp& stamp = ring.lease_stamp(SlotId{s}, group);
    const bool stamped = stamp.seq.load(std::memory_order_relaxed) == value_of(word.seq);
    const double age = stamped ? seconds_since(stamp.leased_ns.load(std::memory_order_relaxed)) : 0;
    if (oldest && oldest->age_s >= age) continue;
    const auto owner = static_cast<std::uint32_t>(index_of(word.owner));
    oldest = LeaseReport{
        s, value_of(word.seq), word.attempts, owner, identity_of(ring.participants()[owner]).pid, age};
  }
  return oldest;
}

}  // namespace tailrace
