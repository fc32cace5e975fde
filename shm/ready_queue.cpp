#include "shm/ready_queue.hpp"

#include <algorithm>
#include <cassert>

#include "os/clock.hpp"
#include "os/failpoint.hpp"

namespace tailrace {
namespace {

constexpr std::uint32_t kQuarantineLeases =
    2;  // deaths while saving the bytes, before the reason alone is saved

}  // namespace

Lease& Lease::operator=(Lease&& other) noexcept {
  if (this != &other) {
    if (queue_ != nullptr) end(End::kGiveBackCounted);
    queue_ = std::exchange(other.queue_, nullptr);
    word_ = other.word_;
  }
  return *this;
}

Lease::~Lease() {
  if (queue_ != nullptr) end(End::kGiveBackCounted);
}

bool Lease::is_quarantine() const noexcept {
  const std::uint32_t limit = queue_->max_attempts_;
  return limit != 0 && attempts() > limit;
}

bool Lease::is_reason_only() const noexcept {
  const std::uint32_t limit = queue_->max_attempts_;
  // The count saturates: with a limit near it the reason alone comes sooner, but it does come.
  return is_quarantine() && attempts() >= std::min(limit + kQuarantineLeases + 1, kMaxCountedAttempts);
}

std::span<const std::byte> Lease::bytes() const noexcept { return queue_->ring_->slot(word_.slot); }
bool Lease::commit() noexcept { return end(End::kCommit); }
bool Lease::give_back() noexcept { return end(End::kGiveBack); }

bool Lease::end(End how) noexcept {
  assert(queue_ != nullptr && "a lease ends once");
  ReadyQueue& queue = *std::exchange(queue_, nullptr);
  if (how == End::kCommit) failpoint("before_commit");
  const bool ended = how == End::kCommit ? queue.protocol_.commit(word_)
                                         : queue.protocol_.give_back(word_, how == End::kGiveBackCounted);
  if (how == End::kCommit) failpoint("after_commit");
  CounterBlock& counters = queue.ring_->group_counters(queue.group_);
  if (!ended)
    counters.add(Counter::kRefusedReturns);
  else if (how != End::kCommit)
    counters.add(Counter::kGivenBack);
  if (--queue.held_ == 0) queue.holds_suspect_ = false;
  if (how == End::kCommit)
    queue.ring_->free_events().notify();
  else
    queue.ring_->ready_events().notify();
  return ended;
}

ReadyQueue::ReadyQueue(const Ring& ring, GroupId group, const Participant& participant, Janitor& janitor,
                       std::chrono::nanoseconds spin)
    : ring_(&ring),
      group_(group),
      participant_(&participant),
      janitor_(&janitor),
      spin_(spin),
      max_attempts_(ring.geometry().groups[index_of(group)].max_attempts),
      protocol_(ring.protocol()) {}

LeaseOutcome ReadyQueue::try_lease(Lease& lease) noexcept {
  assert(!lease);
  const RingState state = ring_->state();
  if (state == RingState::kRetired) return LeaseOutcome::kRetired;
  if (holds_suspect_) return LeaseOutcome::kEmpty;
  const auto filter = held_ == 0 ? LeaseFilter::kAny : LeaseFilter::kFirstAttemptsOnly;
  const auto word = protocol_.try_lease(group_, participant_->owner(), filter);
  if (!word) {
    // The state was read before the words: nothing is published after FINISHED, so what is done now stays
    // done.
    const bool finished = state == RingState::kFinished && protocol_.group_is_done(group_);
    return finished ? LeaseOutcome::kFinished : LeaseOutcome::kEmpty;
  }
  failpoint("after_lease");
  LeaseStamp& stamp = ring_->lease_stamp(word->slot, group_);
  // relaxed: advisory, for status; the words are the truth
  stamp.seq.store(value_of(word->word().seq), std::memory_order_relaxed);
  stamp.leased_ns.store(monotonic_ns(), std::memory_order_relaxed);
  ++held_;
  holds_suspect_ = word->word().attempts > 1;
  lease = Lease(*this, *word);
  return LeaseOutcome::kLeased;
}

LeaseOutcome ReadyQueue::wait_lease(Lease& lease, std::chrono::milliseconds timeout) {
  const std::uint64_t start = monotonic_ns();
  const std::uint32_t ticket = ring_->ready_events().prepare();
  LeaseOutcome outcome = try_lease(lease);
  if (outcome != LeaseOutcome::kEmpty) return outcome;
  ring_->ready_events().wait(ticket, timeout, spin_);
  outcome = try_lease(lease);
  if (outcome == LeaseOutcome::kEmpty && janitor_->do_work() > 0) outcome = try_lease(lease);
  ring_->group_counters(group_).add(Counter::kStallConsumerNs, monotonic_ns() - start);
  return outcome;
}

}  // namespace tailrace
