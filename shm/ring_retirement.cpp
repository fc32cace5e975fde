#include "shm/ring_retirement.hpp"

#include <algorithm>

#include "os/failpoint.hpp"
#include "shm/ring_occupants.hpp"
#include "shm/ring_owner.hpp"

namespace tailrace {
namespace {

constexpr std::chrono::milliseconds kWait{50};

// Every group that a living consumer works for has all that is published.
bool is_settled(const Ring& ring) {
  const auto held = holders(ring, index_of(kProducerId) + 1);
  return std::all_of(held.begin(), held.end(), [&](ParticipantId id) {
    const std::uint32_t group = ring.participants()[index_of(id)].group.load(std::memory_order_acquire);
    return group >= ring.geometry().groups.size() || ring.protocol().group_is_done(GroupId{group});
  });
}

}  // namespace

bool RingRetirement::run() const {
  // What is published is in nobody's way: its consumers finish it.
  if (ring_->state() != RingState::kRetired &&
      !wait_for("the consumers to finish the old ring", [&] { return is_settled(*ring_); }))
    return false;
  ring_->header().ring_state.store(RingState::kRetired, std::memory_order_release);
  ring_->notify_all();
  failpoint("after_retire");
  return wait_for("everybody to leave the old ring", [&] { return holders(*ring_, first_).empty(); });
}

// Says so once, and who is in the ring.
bool RingRetirement::wait_for(const std::string& what, const std::function<bool()>& done) const {
  std::string said;
  while (!done()) {
    const auto held = holders(*ring_, first_);
    const std::string text = "waiting for " + what +
                             (held.empty() ? "; nobody is there"
                                           : "; " + describe_participant(*ring_, held.front()) + " is there");
    if (text != said) (*progress_)(text);
    said = text;
    if ((*should_stop_)()) return false;
    const std::uint32_t ticket = ring_->free_events().prepare();
    ring_->free_events().wait(ticket, kWait, std::chrono::nanoseconds(0));
  }
  return true;
}

void discard_ring(const ProducerRole& role, const RingRetirement::Progress& progress,
                  const RingRetirement::ShouldStop& should_stop) {
  const AttachAnswer found = attach_ring(role.files(), RingAccess::kOperator);
  if (found.ring && !RingRetirement(*found.ring, 0, progress, should_stop).run())
    throw RingBusy("stopped while waiting for the consumers of the old ring");
  if (!found.ring && is_in_use(role.files().control))
    throw RingMismatch("a living process uses a ring that this program cannot read: " + found.detail);
  role.remove_ring();
}

std::optional<std::string> clean_ring(const RingFiles& files) {
  const auto role = ProducerRole::try_take(files);
  if (!role) return "producer " + ProducerRole::describe_holder(files);
  // Not as producer: the data may lie elsewhere, and then a consumer must not be overlooked.
  AttachAnswer found = attach_ring(files, RingAccess::kOperator);
  if (!found.ring && is_in_use(files.control)) return "a process that uses it all the same: " + found.detail;
  if (found.ring) {
    const auto held = holders(*found.ring);
    if (!held.empty()) return "consumer " + describe_participant(*found.ring, held.front());
    found.ring->header().ring_state.store(RingState::kRetired, std::memory_order_release);
    found.ring->notify_all();
  } else if (is_in_use(files.control)) {
    return "a process that uses a ring of another kind: " + found.detail;
  }
  role->remove_files();
  return std::nullopt;
}

}  // namespace tailrace
