#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "tests/shm/support.hpp"

namespace tailrace {
namespace {

using testing::attach;
using testing::checked_batch;
using testing::Child;
using testing::own;
using testing::publish_batch;
using testing::small_spec;
using testing::TempFolder;

constexpr GroupId kGroup{0};
constexpr std::chrono::nanoseconds kNoSpin{0};

RingSpec one_group() {
  RingSpec spec = small_spec();
  spec.groups = {{"one", 3}};
  return spec;
}

struct Consumer {
  explicit Consumer(const RingFiles& files)
      : ring(attach(files, RingAccess::kConsumer)),
        participant(*Participant::join(ring, kGroup)),
        janitor(ring, participant.id(), {}),
        queue(ring, kGroup, participant, janitor, kNoSpin) {}
  Ring ring;
  Participant participant;
  Janitor janitor;
  ReadyQueue queue;
};

/// The producer lives in the test's process.
class ConsumerDeath : public ::testing::Test {
 protected:
  TempFolder folder;
  RingFiles files = folder.files();
  RingOwner owner = own(files, one_group());
  Janitor janitor{owner.ring(), kProducerId, {}};
  FreeQueue queue{owner.ring(), janitor, kNoSpin, owner.start().next_seq};
  SlotProtocol protocol = owner.ring().protocol();

  // A consumer that leases the oldest batch and then does nothing any more.
  [[nodiscard]] std::unique_ptr<Child> holder() const {
    auto child = std::make_unique<Child>([this](const Child::Line& line) {
      Consumer consumer(files);
      Lease lease;
      if (consumer.queue.try_lease(lease) != LeaseOutcome::kLeased) _exit(5);
      line.say('l');
      (void)line.hear();
    });
    EXPECT_EQ(child->hear(), 'l');
    return child;
  }
};

TEST_F(ConsumerDeath, GivesItsLeaseToAnotherWithTheAttemptCounted) {
  ASSERT_TRUE(publish_batch(queue, 0));
  auto child = holder();
  Consumer survivor(files);
  EXPECT_EQ(survivor.janitor.do_work(), 0U) << "it lives";
  child->kill_now();
  Lease lease;
  ASSERT_EQ(survivor.queue.wait_lease(lease, std::chrono::milliseconds(1)), LeaseOutcome::kLeased);
  EXPECT_EQ(lease.attempts(), 2U);
  EXPECT_EQ(checked_batch(lease), 0U);
}

TEST_F(ConsumerDeath, InQuarantineTooGivesTheBatchOnUntilTheReasonAloneIsLeft) {
  ASSERT_TRUE(publish_batch(queue, 0));
  for (int death = 0; death < 5; ++death) {
    holder()->kill_now();
    EXPECT_EQ(janitor.do_work(), 1U);
  }
  Consumer survivor(files);
  Lease lease;
  ASSERT_EQ(survivor.queue.try_lease(lease), LeaseOutcome::kLeased);
  EXPECT_EQ(lease.attempts(), 6U);
  EXPECT_TRUE(lease.is_reason_only());
  EXPECT_TRUE(lease.commit());
  EXPECT_TRUE(protocol.all_done());
}

TEST_F(ConsumerDeath, IsNeverDeclaredOfAStoppedProcess) {
  ASSERT_TRUE(publish_batch(queue, 0));
  auto child = holder();
  child->send(SIGSTOP);
  Consumer survivor(files);
  for (int pass = 0; pass < 100; ++pass) {
    EXPECT_EQ(janitor.do_work(), 0U);
    EXPECT_EQ(survivor.janitor.do_work(), 0U);
  }
  Lease lease;
  EXPECT_EQ(survivor.queue.try_lease(lease), LeaseOutcome::kEmpty);
  child->send(SIGCONT);
}

TEST_F(ConsumerDeath, OfAProducerOutOfSlotsCostsOneWait) {
  for (std::uint64_t number = 0; number < 4; ++number) ASSERT_TRUE(publish_batch(queue, number));
  auto child = holder();
  Consumer survivor(files);
  for (int i = 0; i < 3; ++i) {
    Lease lease;
    ASSERT_EQ(survivor.queue.try_lease(lease), LeaseOutcome::kLeased);
    EXPECT_TRUE(lease.commit());
  }
  for (std::uint64_t number = 4; number < 7; ++number) ASSERT_TRUE(publish_batch(queue, number));
  child->kill_now();
  EXPECT_EQ(janitor.do_work(), 1U);
  Lease lease;
  ASSERT_EQ(survivor.queue.try_lease(lease), LeaseOutcome::kLeased);
  EXPECT_EQ(checked_batch(lease), 0U) << "the oldest first";
}

TEST_F(ConsumerDeath, IsSweptByWhoeverTakesItsEntry) {
  ASSERT_TRUE(publish_batch(queue, 0));
  holder()->kill_now();
  const Consumer successor(files);
  ASSERT_EQ(successor.participant.swept().size(), 1U);
  EXPECT_EQ(successor.participant.swept()[0].seq, BatchSeq{1});
  EXPECT_EQ(protocol.group_word(SlotId{0}, kGroup).state, GroupState::kPending);
}

TEST_F(ConsumerDeath, WhileIdleManyTimesNeverStopsTheFlow) {
  for (std::uint64_t number = 0; number < 60; ++number) {
    Child idle([&](const Child::Line& line) {
      Consumer consumer(files);
      line.say('w');
      Lease lease;
      (void)consumer.queue.wait_lease(lease, std::chrono::hours(1));
      line.say('x');
      (void)line.hear();
    });
    ASSERT_EQ(idle.hear(), 'w');
    if (number % 2 == 0) idle.kill_now();
    ASSERT_TRUE(publish_batch(queue, number));
    if (number % 2 == 1) {
      ASSERT_EQ(idle.hear(), 'x');
      idle.kill_now();
      ASSERT_EQ(janitor.do_work(), 1U);
    }
    Consumer survivor(files);
    Lease lease;
    ASSERT_EQ(survivor.queue.try_lease(lease), LeaseOutcome::kLeased);
    ASSERT_EQ(checked_batch(lease), number);
    ASSERT_TRUE(lease.commit());
  }
}

/// The producer lives in a child that stops at a point of its work.
enum class StopAt { kFilling, kCursorRaised, kPublished, kFinished };

class ProducerDeath : public ::testing::TestWithParam<StopAt> {};

TEST_P(ProducerDeath, LosesAndDoublesNothing) {
  const TempFolder folder;
  const RingFiles files = folder.files();
  RingSpec spec = one_group();
  spec.items.position_count = 10;
  Child producer([&](const Child::Line& line) {
    const RingOwner owner = own(files, spec);
    Janitor janitor(owner.ring(), kProducerId, {});
    FreeQueue queue(owner.ring(), janitor, kNoSpin, owner.start().next_seq);
    for (std::uint64_t number = 0; number < 4; ++number)
      if (!publish_batch(queue, number)) _exit(5);
    line.say('p');
    (void)line.hear();  // all four are done now
    switch (GetParam()) {
      case StopAt::kFilling:
        (void)queue.try_claim();
        break;
      case StopAt::kCursorRaised:
        owner.ring().header().cursor.store(1);
        break;
      case StopAt::kPublished:
        (void)publish_batch(queue, 4);
        break;
      case StopAt::kFinished:
        owner.set_finished();
        break;
    }
    line.say('s');
    (void)line.hear();
  });
  ASSERT_EQ(producer.hear(), 'p');
  Consumer consumer(files);
  std::vector<std::uint64_t> committed;
  const auto commit_all = [&] {
    for (Lease lease; consumer.queue.try_lease(lease) == LeaseOutcome::kLeased;) {
      committed.push_back(checked_batch(lease));
      EXPECT_TRUE(lease.commit());
    }
  };
  commit_all();
  producer.say('g');
  ASSERT_EQ(producer.hear(), 's');
  producer.kill_now();
  commit_all();

  const RingOwner owner = own(files, spec);
  EXPECT_TRUE(owner.taken_over());
  Janitor janitor(owner.ring(), kProducerId, {});
  FreeQueue queue(owner.ring(), janitor, kNoSpin, owner.start().next_seq);
  for (std::uint64_t number = value_of(owner.start().next); number < 10; ++number) {
    if (!publish_batch(queue, number)) {
      commit_all();
      ASSERT_TRUE(publish_batch(queue, number));
    }
  }
  commit_all();
  EXPECT_THAT(committed, ::testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT_EQ(owner.ring().protocol().find_damage(kMaxParticipants), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Everywhere, ProducerDeath,
                         ::testing::Values(StopAt::kFilling, StopAt::kCursorRaised, StopAt::kPublished,
                                           StopAt::kFinished));

}  // namespace
}  // namespace tailrace
