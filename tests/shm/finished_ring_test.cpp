#include "shm/finished_ring.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "tests/shm/support.hpp"

namespace tailrace {
namespace {

using testing::attach;
using testing::own;
using testing::publish_batch;
using testing::small_spec;
using testing::TempFolder;

constexpr GroupId kGroup{0};
constexpr std::chrono::nanoseconds kNoSpin{0};

/// A job of two batches; a producer that drained after the first, and a consumer that has had it and was told
/// FINISHED.
class FinishedRing : public ::testing::Test {
 protected:
  FinishedRing() {
    spec.groups = {{"one", 3}};
    spec.items.position_count = 2;
    start_producer();
    publish(0);
    producer->set_finished();
    ring.emplace(attach(files, RingAccess::kConsumer));
    participant.emplace(*Participant::join(*ring, kGroup));
    janitor.emplace(*ring, participant->id(), Janitor::Report{});
    queue.emplace(*ring, kGroup, *participant, *janitor, kNoSpin);
    Lease lease;
    EXPECT_EQ(queue->try_lease(lease), LeaseOutcome::kLeased);
    EXPECT_TRUE(lease.commit());
    EXPECT_EQ(queue->try_lease(lease), LeaseOutcome::kFinished);
  }

  void start_producer() { producer.emplace(own(files, spec)); }
  void publish(std::uint64_t number) const {
    Janitor producers(producer->ring(), kProducerId, {});
    FreeQueue free(producer->ring(), producers, kNoSpin, producer->start().next_seq);
    EXPECT_TRUE(publish_batch(free, number));
  }
  LeaseOutcome confirm() {
    Lease lease;
    return confirm_finished(*ring, *queue, lease);
  }

  TempFolder folder;
  RingFiles files = folder.files();
  RingSpec spec = small_spec();
  std::optional<RingOwner> producer;
  std::optional<Ring> ring;
  std::optional<Participant> participant;
  std::optional<Janitor> janitor;
  std::optional<ReadyQueue> queue;
};

TEST_F(FinishedRing, IsLeftWhileItsProducerIsThere) { EXPECT_EQ(confirm(), LeaseOutcome::kFinished); }

TEST_F(FinishedRing, IsNotLeftWhenItsProducerDiedWithBatchesLeft) {
  producer.reset();
  EXPECT_EQ(confirm(), LeaseOutcome::kEmpty);
}

TEST_F(FinishedRing, IsLeftWhenItsProducerDiedButWasAskedToDrain) {
  ring->header().drain_requested = 1;
  producer.reset();
  EXPECT_EQ(confirm(), LeaseOutcome::kFinished);
}

TEST_F(FinishedRing, IsLeftWhenItsProducerDiedWithoutBatchesLeft) {
  ring->header().cursor = 2;
  producer.reset();
  EXPECT_EQ(confirm(), LeaseOutcome::kFinished);
}

// All between the consumer's load of FINISHED and its question who holds the producer's byte.
TEST_F(FinishedRing, IsNotLeftWhenASuccessorHasOpenedItSinceTheStateWasRead) {
  producer.reset();
  start_producer();
  EXPECT_EQ(confirm(), LeaseOutcome::kEmpty);
}

TEST_F(FinishedRing, HandsOutWhatASuccessorHasPublishedAndFinishedSinceTheStateWasRead) {
  producer.reset();
  start_producer();
  publish(1);
  producer->set_finished();
  Lease lease;
  ASSERT_EQ(confirm_finished(*ring, *queue, lease), LeaseOutcome::kLeased);
  EXPECT_EQ(testing::checked_batch(lease), 1U);
}

// A lock changes hands in a system call only.
TEST_F(FinishedRing, IsOpenBeforeASuccessorHasTheProducersByte) {
  producer.reset();
  const LockLiveness liveness(*ring);
  int held = 0;
  testing::stopping_at_system_calls([&] { (void)own(files, spec); },
                                    [&] {
                                      if (!liveness.is_held(kProducerId)) return true;
                                      ++held;
                                      return ring->state() == RingState::kOpen;
                                    });
  EXPECT_EQ(ring->state(), RingState::kOpen);
  EXPECT_GT(held, 0);
}

}  // namespace
}  // namespace tailrace
