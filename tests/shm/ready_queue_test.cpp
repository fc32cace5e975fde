#include "shm/ready_queue.hpp"

#include <gtest/gtest.h>

#include "tests/shm/support.hpp"

namespace tailrace {
namespace {

using testing::own;
using testing::publish_batch;
using testing::small_spec;
using testing::TempFolder;

constexpr GroupId kGroup{0};

struct Consumer {
  explicit Consumer(const Ring& ring, GroupId group = kGroup)
      : participant(*Participant::join(ring, group)),
        janitor(ring, participant.id(), {}),
        queue(ring, group, participant, janitor, std::chrono::nanoseconds(0)) {}
  Participant participant;
  Janitor janitor;
  ReadyQueue queue;
};

/// A ring with one group whose batches are quarantined after `max_attempts`.
struct OneGroup {
  explicit OneGroup(std::uint32_t max_attempts = 3) {
    RingSpec spec = small_spec();
    spec.groups = {{"one", max_attempts}};
    owner.emplace(own(folder.files(), spec));
    janitor.emplace(owner->ring(), kProducerId, Janitor::Report{});
    free.emplace(owner->ring(), *janitor, std::chrono::nanoseconds(0), owner->start().next_seq);
  }
  [[nodiscard]] const Ring& ring() const { return owner->ring(); }
  void set_attempts(std::uint32_t attempts) const {
    for (std::uint32_t s = 0; s < 4; ++s) {
      const ProducerWord word = ring().protocol().producer_word(SlotId{s});
      if (word.state != ProducerState::kReady) continue;
      word_of(SlotId{s}) = encode(pending_word(word.seq, attempts));
    }
  }
  [[nodiscard]] SlotProtocol::Word& word_of(SlotId slot) const {
    const ControlOffsets at = control_offsets(4, 1);
    auto* base = reinterpret_cast<std::byte*>(&ring().header());
    return reinterpret_cast<SlotProtocol::Word*>(base + at.group_words)[index_of(slot)];
  }
  TempFolder folder;
  std::optional<RingOwner> owner;
  std::optional<Janitor> janitor;
  std::optional<FreeQueue> free;
};

TEST(ReadyQueue, GivesEveryBatchOnceInOrderWithItsBytes) {
  OneGroup ring;
  Consumer consumer(ring.ring());
  for (std::uint64_t number = 0; number < 20; ++number) {
    ASSERT_TRUE(publish_batch(*ring.free, number));
    Lease lease;
    ASSERT_EQ(consumer.queue.try_lease(lease), LeaseOutcome::kLeased);
    EXPECT_EQ(testing::checked_batch(lease), number);
    EXPECT_EQ(lease.attempts(), 1U);
    EXPECT_TRUE(lease.commit());
    EXPECT_FALSE(lease);
    EXPECT_EQ(consumer.queue.try_lease(lease), LeaseOutcome::kEmpty);
  }
}

TEST(ReadyQueue, GivesNothingWhenTheRingIsFullAndEverySlotIsLeased) {
  OneGroup ring;
  for (std::uint64_t number = 0; number < 4; ++number) ASSERT_TRUE(publish_batch(*ring.free, number));
  EXPECT_FALSE(publish_batch(*ring.free, 4));
  Consumer consumer(ring.ring());
  std::array<Lease, 4> leases;
  for (Lease& lease : leases) ASSERT_EQ(consumer.queue.try_lease(lease), LeaseOutcome::kLeased);
  EXPECT_EQ(consumer.queue.held_count(), 4U);
  EXPECT_FALSE(publish_batch(*ring.free, 4));
  EXPECT_TRUE(leases[2].commit());
  EXPECT_TRUE(publish_batch(*ring.free, 4));
}

TEST(Lease, ThatIsDroppedComesBackWithItsAttemptCounted) {
  OneGroup ring;
  Consumer consumer(ring.ring());
  ASSERT_TRUE(publish_batch(*ring.free, 0));
  {
    Lease lease;
    ASSERT_EQ(consumer.queue.try_lease(lease), LeaseOutcome::kLeased);
  }
  Lease again;
  ASSERT_EQ(consumer.queue.try_lease(again), LeaseOutcome::kLeased);
  EXPECT_EQ(again.attempts(), 2U);
}

TEST(Lease, ThatIsGivenBackInOrderCountsNoAttempt) {
  OneGroup ring;
  Consumer consumer(ring.ring());
  ASSERT_TRUE(publish_batch(*ring.free, 0));
  for (int i = 0; i < 50; ++i) {
    Lease lease;
    ASSERT_EQ(consumer.queue.try_lease(lease), LeaseOutcome::kLeased);
    ASSERT_EQ(lease.attempts(), 1U);
    EXPECT_TRUE(lease.give_back());
  }
  EXPECT_EQ(ring.ring().group_counters(kGroup).get(Counter::kGivenBack), 50U);
}

TEST(Lease, MovesAndGoesHomeOnce) {
  OneGroup ring;
  Consumer consumer(ring.ring());
  ASSERT_TRUE(publish_batch(*ring.free, 0));
  ASSERT_TRUE(publish_batch(*ring.free, 1));
  Lease first;
  Lease second;
  ASSERT_EQ(consumer.queue.try_lease(first), LeaseOutcome::kLeased);
  ASSERT_EQ(consumer.queue.try_lease(second), LeaseOutcome::kLeased);
  first = std::move(second);
  EXPECT_EQ(consumer.queue.held_count(), 1U) << "what was assigned over went home";
  EXPECT_EQ(first.seq(), BatchSeq{2});
}

TEST(Lease, OfAFormerOwnerIsRefusedAndCountedAndTheBatchStaysWhole) {
  OneGroup ring;
  Consumer consumer(ring.ring());
  ASSERT_TRUE(publish_batch(*ring.free, 0));
  Lease lease;
  ASSERT_EQ(consumer.queue.try_lease(lease), LeaseOutcome::kLeased);
  ring.ring().protocol().reclaim_entry(consumer.participant.id());
  EXPECT_FALSE(lease.commit());
  EXPECT_EQ(ring.ring().group_counters(kGroup).get(Counter::kRefusedReturns), 1U);
  ASSERT_EQ(consumer.queue.try_lease(lease), LeaseOutcome::kLeased);
  EXPECT_EQ(testing::checked_batch(lease), 0U);
}

TEST(Suspects, AreNeverHeldTogetherWithAnotherLease) {
  OneGroup ring;
  Consumer consumer(ring.ring());
  ASSERT_TRUE(publish_batch(*ring.free, 0));
  ring.set_attempts(1);
  ASSERT_TRUE(publish_batch(*ring.free, 1));
  Lease suspect;
  ASSERT_EQ(consumer.queue.try_lease(suspect), LeaseOutcome::kLeased);
  ASSERT_EQ(suspect.attempts(), 2U);
  Lease other;
  EXPECT_EQ(consumer.queue.try_lease(other), LeaseOutcome::kEmpty) << "taken along with a suspect";
  EXPECT_TRUE(suspect.commit());
  EXPECT_EQ(consumer.queue.try_lease(other), LeaseOutcome::kLeased);
  ASSERT_TRUE(publish_batch(*ring.free, 2));
  ring.set_attempts(1);
  EXPECT_EQ(consumer.queue.try_lease(suspect), LeaseOutcome::kEmpty) << "a suspect beside another lease";
}

TEST(Quarantine, ComesAfterMaxAttemptsAndTheReasonAloneAfterTwoMoreDeaths) {
  for (const std::uint32_t limit : {1U, 3U, 28U}) {
    OneGroup ring(limit);
    Consumer consumer(ring.ring());
    ASSERT_TRUE(publish_batch(*ring.free, 0));
    for (const std::uint32_t before : {limit - 1, limit, limit + 1, limit + 2}) {
      ring.set_attempts(before);
      Lease lease;
      ASSERT_EQ(consumer.queue.try_lease(lease), LeaseOutcome::kLeased);
      EXPECT_EQ(lease.is_quarantine(), before >= limit) << limit << " " << before;
      EXPECT_EQ(lease.is_reason_only(), before >= limit + 2) << limit << " " << before;
    }
  }
}

TEST(Quarantine, EndsInTheReasonAloneForEveryLimitAlthoughTheCountSaturates) {
  for (std::uint32_t limit = 1; limit <= kMaxMaxAttempts; ++limit) {
    OneGroup ring(limit);
    Consumer consumer(ring.ring());
    ASSERT_TRUE(publish_batch(*ring.free, 0));
    ring.set_attempts(kMaxCountedAttempts);
    Lease lease;
    ASSERT_EQ(consumer.queue.try_lease(lease), LeaseOutcome::kLeased);
    EXPECT_TRUE(lease.is_quarantine());
    EXPECT_TRUE(lease.is_reason_only())
        << "a batch that kills in quarantine, too, would do so for ever: " << limit;
  }
}

TEST(Quarantine, NeverComesWithoutALimit) {
  OneGroup ring(0);
  Consumer consumer(ring.ring());
  ASSERT_TRUE(publish_batch(*ring.free, 0));
  ring.set_attempts(31);
  Lease lease;
  ASSERT_EQ(consumer.queue.try_lease(lease), LeaseOutcome::kLeased);
  EXPECT_FALSE(lease.is_quarantine());
  EXPECT_FALSE(lease.is_reason_only());
}

TEST(Finished, IsAnsweredOnlyWhenEveryBatchIsDoneForTheGroup) {
  OneGroup ring;
  Consumer consumer(ring.ring());
  Consumer peer(ring.ring());
  ASSERT_TRUE(publish_batch(*ring.free, 0));
  Lease lease;
  ASSERT_EQ(peer.queue.try_lease(lease), LeaseOutcome::kLeased);
  ring.owner->set_finished();
  Lease none;
  EXPECT_EQ(consumer.queue.try_lease(none), LeaseOutcome::kEmpty) << "the peer's lease may come back";
  EXPECT_TRUE(lease.commit());
  EXPECT_EQ(consumer.queue.try_lease(none), LeaseOutcome::kFinished);
}

TEST(Retired, IsAnsweredBeforeAnythingIsLeased) {
  OneGroup ring;
  Consumer consumer(ring.ring());
  ASSERT_TRUE(publish_batch(*ring.free, 0));
  ring.ring().header().ring_state = RingState::kRetired;
  Lease lease;
  EXPECT_EQ(consumer.queue.try_lease(lease), LeaseOutcome::kRetired);
  EXPECT_EQ(consumer.queue.wait_lease(lease, std::chrono::milliseconds(1)), LeaseOutcome::kRetired);
}

TEST(Waiting, InVainEndsWithAJanitorPassOnBothSides) {
  OneGroup ring;
  Consumer consumer(ring.ring());
  ASSERT_TRUE(publish_batch(*ring.free, 0));
  ASSERT_TRUE(ring.ring().protocol().try_lease(kGroup, {ParticipantId{99}, 3}, LeaseFilter::kAny));
  Lease lease;
  EXPECT_EQ(consumer.queue.wait_lease(lease, std::chrono::milliseconds(1)), LeaseOutcome::kLeased);
  EXPECT_EQ(lease.attempts(), 2U);
  EXPECT_EQ(ring.ring().group_counters(kGroup).get(Counter::kRedeliveries), 1U);
}

TEST(FreeQueue, StopsAtTheLastSequenceNumber) {
  OneGroup ring;
  FreeQueue queue(ring.ring(), *ring.janitor, std::chrono::nanoseconds(0), BatchSeq{value_of(kLastSeq) - 1});
  EXPECT_TRUE(publish_batch(queue, 0));
  EXPECT_TRUE(queue.exhausted());
  EXPECT_FALSE(publish_batch(queue, 1));
  EXPECT_EQ(ring.ring().protocol().find_damage(kMaxParticipants), std::nullopt);
}

TEST(FreeQueue, RaisesTheCursorBeforeTheOnlyOtherWitnessGoes) {
  OneGroup ring;
  Consumer consumer(ring.ring());
  ASSERT_TRUE(publish_batch(*ring.free, 41));
  EXPECT_EQ(ring.ring().header().cursor, 0U);
  for (std::uint64_t number = 0; number < 3; ++number) ASSERT_TRUE(publish_batch(*ring.free, number));
  for (int i = 0; i < 4; ++i) {
    Lease lease;
    ASSERT_EQ(consumer.queue.try_lease(lease), LeaseOutcome::kLeased);
    EXPECT_TRUE(lease.commit());
  }
  ASSERT_TRUE(ring.free->try_claim());
  EXPECT_EQ(ring.ring().header().cursor, 42U);
  ASSERT_TRUE(ring.free->try_claim());
  EXPECT_EQ(ring.ring().header().cursor, 42U) << "it never goes back";
}

TEST(FreeQueue, CountsTheTimeThatItWaited) {
  OneGroup ring;
  for (std::uint64_t number = 0; number < 4; ++number) ASSERT_TRUE(publish_batch(*ring.free, number));
  EXPECT_FALSE(ring.free->wait_claim(std::chrono::milliseconds(1)));
  EXPECT_GT(ring.ring().producer().counters.get(Counter::kStallSlotNs), 0U);
}

}  // namespace
}  // namespace tailrace
