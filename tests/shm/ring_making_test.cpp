#include "shm/ring_making.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <optional>

#include "tests/shm/owning.hpp"

namespace tailrace {
namespace {

using ::testing::AllOf;
using testing::commit_all;
using ::testing::HasSubstr;
using testing::message_of;
using testing::own;
using testing::Owning;
using testing::Producer;

class RingMaking : public Owning {
 protected:
  void leave_a_ring_with_two_finished_batches() const {
    Producer producer(files, spec);
    producer.publish(2);
    commit_all(producer.owner.ring());
  }
};

TEST_F(RingMaking, AcceptsLargerSlotsAndReplacesSmallerOnes) {
  spec.slot_bytes = 3U << 20;
  { Producer(files, spec).publish(1); }
  spec.slot_bytes = 1U << 20;
  {
    const RingOwner owner = own(files, spec);
    EXPECT_TRUE(owner.taken_over());
    EXPECT_EQ(owner.ring().geometry().slot_bytes, 3U << 20);
    commit_all(owner.ring());
  }
  spec.slot_bytes = 5U << 20;
  const RingOwner owner = own(files, spec);
  EXPECT_FALSE(owner.taken_over());
  EXPECT_EQ(owner.ring().geometry().slot_bytes, 5U << 20);
}

// What is left to do across rings is not the ring's to know.
TEST_F(RingMaking, ReplacesARingOfAnotherSlotCountByOneThatStartsWithTheFirstBatch) {
  leave_a_ring_with_two_finished_batches();
  spec.slot_count = 6;
  const RingOwner owner = own(files, spec);
  EXPECT_FALSE(owner.taken_over());
  EXPECT_EQ(owner.ring().geometry().slot_count, 6U);
  EXPECT_EQ(owner.start().next, BatchNumber{0});
  EXPECT_EQ(owner.start().next_seq, BatchSeq{1});
}

TEST_F(RingMaking, ReplacesARingOfOtherGroups) {
  const auto changes =
      std::vector<std::function<void(RingSpec&)>>{[](RingSpec& s) { s.groups.pop_back(); },
                                                  [](RingSpec& s) {
                                                    s.groups.push_back({"three", 3});
                                                  },
                                                  [](RingSpec& s) { s.groups[0].max_attempts = 9; }};
  for (const auto& change : changes) {
    { Producer(files, spec).publish(2); }  // nobody is there to finish them
    change(spec);
    const RingOwner owner = own(files, spec);
    EXPECT_FALSE(owner.taken_over());
    EXPECT_EQ(owner.ring().geometry().groups, spec.groups);
  }
}

TEST_F(RingMaking, StartsAnewWhereARetiredRingWasDiscardedHalfDone) {
  {
    Producer producer(files, spec);
    producer.publish(2);
    producer.owner.ring().header().ring_state = RingState::kRetired;  // `clean` was killed before it unlinked
  }
  EXPECT_EQ(own(files, spec).start().next, BatchNumber{0});
}

TEST_F(RingMaking, RefusesAnotherJobWhileBatchesOfTheOldOneAreUnfinished) {
  { Producer(files, spec).publish(2); }
  const auto changes = std::vector<std::function<void(RingSpec&)>>{
      [](RingSpec& s) { s.job_digest = 1; }, [](RingSpec& s) { s.items.position_count = 5; }};
  for (const auto& change : changes) {
    RingSpec other = spec;
    change(other);
    EXPECT_THAT(message_of<RingMismatch>(files, other),
                AllOf(HasSubstr("2 unfinished batches"), HasSubstr("tailrace clean test")));
  }
  EXPECT_TRUE(own(files, spec).taken_over()) << "the refusals left the ring as it was";
}

TEST_F(RingMaking, ReplacesTheRingOfAnotherJobThatIsFinished) {
  leave_a_ring_with_two_finished_batches();
  spec.job_digest = 1;
  const RingOwner owner = own(files, spec);
  EXPECT_FALSE(owner.taken_over());
  EXPECT_EQ(owner.start().next, BatchNumber{0});
}

TEST_F(RingMaking, ReplacesARingFromBeforeTheLastBoot) {
  { Producer(files, spec).publish(2); }
  {
    const UniqueFd fd(open(files.control.c_str(), O_WRONLY | O_CLOEXEC));
    ASSERT_EQ(pwrite(fd.get(), "00000000", 8, 88), 8);
  }
  const RingOwner owner = own(files, spec);
  EXPECT_FALSE(owner.taken_over());
  EXPECT_EQ(owner.start().next, BatchNumber{0});
}

TEST_F(RingMaking, RefusesAnotherLayoutInUseWithBothVersionsAndReplacesADeadOne) {
  { (void)own(files, spec); }
  std::optional<Ring> ring = testing::attach(files, RingAccess::kConsumer);
  std::optional<Participant> user = Participant::join(*ring, GroupId{0});
  ring->header().layout_version = 99;
  EXPECT_THAT(message_of<RingMismatch>(files, spec),
              AllOf(HasSubstr("99"), HasSubstr("version " + std::to_string(kLayoutVersion))));
  EXPECT_TRUE(clean_ring(files).has_value()) << "cleaned under a living user";
  EXPECT_TRUE(std::filesystem::exists(files.control));
  user.reset();
  EXPECT_FALSE(own(files, spec).taken_over());
}

TEST_F(RingMaking, RefusesACursorBeyondTheJob) {
  { Producer(files, spec).publish(1); }
  testing::attach(files, RingAccess::kConsumer).header().cursor = spec.items.batch_count() + 1;
  EXPECT_THAT(message_of<RingMismatch>(files, spec), AllOf(HasSubstr("cursor"), HasSubstr("1000001")));
  EXPECT_EQ(clean_ring(files), std::nullopt);
}

TEST_F(RingMaking, RefusesAnImpossibleWord) {
  { Producer(files, spec).publish(1); }
  {
    const Ring ring = testing::attach(files, RingAccess::kConsumer);
    auto* base = reinterpret_cast<std::byte*>(&ring.header());
    *reinterpret_cast<SlotProtocol::Word*>(base + control_offsets(4, 2).group_words) = ~std::uint64_t{0};
  }
  EXPECT_THAT(message_of<RingMismatch>(files, spec), HasSubstr("slot 0, group 0"));
}

TEST_F(RingMaking, ReplacesARingWhoseSequenceNumbersAreUsedUp) {
  leave_a_ring_with_two_finished_batches();
  testing::attach(files, RingAccess::kConsumer).header().next_seq = value_of(kLastSeq);
  const RingOwner owner = own(files, spec);
  EXPECT_FALSE(owner.taken_over());
  EXPECT_EQ(owner.start().next_seq, BatchSeq{1});
}

TEST_F(RingMaking, ReopensAFinishedRingWithBatchesLeftOnly) {
  spec.items.position_count = 2;
  {
    Producer producer(files, spec);
    producer.publish(1);
    producer.owner.set_finished();
  }
  {
    Producer producer(files, spec);
    EXPECT_EQ(producer.owner.ring().state(), RingState::kOpen);
    producer.publish(1);
    producer.owner.set_finished();
  }
  EXPECT_EQ(own(files, spec).ring().state(), RingState::kFinished);
}

}  // namespace
}  // namespace tailrace
