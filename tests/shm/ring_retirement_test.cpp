#include "shm/ring_retirement.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "tests/shm/owning.hpp"

namespace tailrace {
namespace {

using ::testing::AllOf;
using testing::Child;
using testing::Consumer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::own;
using testing::Owning;
using testing::Producer;

class RingRetirement : public Owning {};

// The bytes of published batches go with the old ring: its consumers must have had all of them.
TEST_F(RingRetirement, LeavesTheOldRingToItsConsumersUntilItIsFinished) {
  spec.groups = {{"one", 3}};
  { Producer(files, spec).publish(3); }
  std::optional<Ring> old = testing::attach(files, RingAccess::kConsumer);
  auto consumer = std::make_unique<Consumer>(*old, GroupId{0});
  spec.slot_count = 6;
  std::vector<std::string> said;
  int committed = 0;
  const RingOwner owner(
      files, spec, [&](const std::string& text) { said.push_back(text); },
      [&] {
        Lease lease;
        if (committed < 3) {
          EXPECT_EQ(consumer->queue.try_lease(lease), LeaseOutcome::kLeased);
          committed += lease.commit() ? 1 : 0;
        } else if (consumer) {
          EXPECT_EQ(consumer->queue.try_lease(lease), LeaseOutcome::kRetired);
          consumer.reset();
        }
        return false;
      });
  EXPECT_EQ(committed, 3);
  EXPECT_THAT(said, ::testing::Contains(AllOf(HasSubstr("leave the old ring"),
                                              HasSubstr("pid " + std::to_string(getpid())))));
  EXPECT_FALSE(old->names_intact());
  EXPECT_EQ(old->state(), RingState::kRetired);
}

// Its consumers are to come back to the new ring; waiting for them here could take for ever.
TEST_F(RingRetirement, WaitsInTheOldRingOnlyForGroupsThatSomebodyWorksFor) {
  { Producer(files, spec).publish(3); }
  std::optional<Ring> old = testing::attach(files, RingAccess::kConsumer);
  auto consumer = std::make_unique<Consumer>(*old, GroupId{0});
  spec.slot_count = 6;
  bool retired = false;
  const RingOwner owner(
      files, spec, [](const std::string&) {},
      [&] {
        retired = old->state() == RingState::kRetired;
        if (retired)
          consumer.reset();
        else
          EXPECT_EQ(consumer->commit_all().size(), 3U);
        return false;
      });
  EXPECT_TRUE(retired);
  EXPECT_FALSE(old->protocol().group_is_done(GroupId{1}));
}

// A producer whose role's file was removed works until it notices, and retires the ring then.
TEST_F(RingRetirement, TakesNoRingOverThatItsPredecessorRetiresMeanwhile) {
  Child first([&](const Child::Line& line) {
    const RingOwner owner = own(files, spec);
    line.say('o');
    (void)line.hear();
    if (!owner.retire([](const std::string&) {}, [] { return true; })) _exit(5);
  });
  ASSERT_EQ(first.hear(), 'o');
  unlink(files.lock.c_str());
  std::vector<std::string> said;
  const RingOwner second(
      files, spec, [&](const std::string& text) { said.push_back(text); },
      [&] {
        first.say('g');
        EXPECT_EQ(first.join(), 0);
        return false;
      });
  EXPECT_THAT(said.at(0), HasSubstr("waiting for the previous producer to end"));
  EXPECT_FALSE(second.taken_over());
  EXPECT_EQ(second.ring().state(), RingState::kOpen);
}

TEST_F(RingRetirement, NamesTheFilesThatSomebodyRemovedOrReplaced) {
  const RingOwner owner = own(files, spec);
  EXPECT_TRUE(owner.names_intact());
  EXPECT_THAT(owner.lost_names(), IsEmpty());
  std::ofstream(files.lock.string() + "2").flush();
  std::filesystem::rename(files.lock.string() + "2", files.lock);
  EXPECT_FALSE(owner.names_intact());
  EXPECT_THAT(owner.lost_names(), ElementsAre(files.lock));
  unlink(files.control.c_str());
  unlink(files.data.c_str());
  EXPECT_THAT(owner.lost_names(), ElementsAre(files.control, files.data, files.lock));
}

TEST_F(RingRetirement, RetiresALostRingWhenItsConsumersHaveWhatIsPublishedAndHaveLeft) {
  Producer producer(files, spec);
  producer.publish(2);
  auto consumer = std::make_unique<Consumer>(producer.owner.ring(), GroupId{0});
  int asked = 0;
  EXPECT_TRUE(producer.owner.retire([](const std::string&) {},
                                    [&] {
                                      Lease lease;
                                      ++asked;
                                      if (asked <= 2) {
                                        EXPECT_EQ(consumer->queue.try_lease(lease), LeaseOutcome::kLeased);
                                        EXPECT_TRUE(lease.commit());
                                      } else {
                                        EXPECT_EQ(consumer->queue.try_lease(lease), LeaseOutcome::kRetired);
                                        consumer.reset();
                                      }
                                      return false;
                                    }));
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(producer.owner.ring().state(), RingState::kRetired);
}

TEST_F(RingRetirement, MakesANewRingWhicheverOfItsFilesSomebodyRemoved) {
  for (const auto& lost : {files.control, files.data, files.lock}) {
    {
      Producer producer(files, spec);
      producer.publish(1);
      unlink(lost.c_str());
      ASSERT_TRUE(producer.owner.retire([](const std::string&) {}, [] { return true; }));
    }
    const RingOwner owner = own(files, spec);
    EXPECT_FALSE(owner.taken_over()) << lost;
    EXPECT_TRUE(owner.names_intact());
    owner.remove_files();
    EXPECT_THAT(folder.names(), IsEmpty()) << lost;
  }
}

// Their producer is dead, and whoever comes next finds no whole ring; they learn that they are to leave.
TEST_F(RingRetirement, TellsTheConsumersOfARingWithoutDataToLeaveIt) {
  { Producer(files, spec).publish(1); }
  const Ring old = testing::attach(files, RingAccess::kConsumer);
  auto consumer = std::make_unique<Consumer>(old, GroupId{0});
  unlink(files.data.c_str());
  const RingOwner owner(
      files, spec, [](const std::string&) {},
      [&] {
        if (old.state() == RingState::kRetired)
          consumer.reset();
        else
          EXPECT_EQ(consumer->commit_all().size(), 1U);
        return false;
      });
  EXPECT_EQ(old.state(), RingState::kRetired);
  EXPECT_EQ(owner.ring().state(), RingState::kOpen);
}

TEST_F(RingRetirement, GivesUpWaitingForTheOldRingsUsersWhenTold) {
  { Producer(files, spec).publish(1); }
  const Ring old = testing::attach(files, RingAccess::kConsumer);
  const auto user = Participant::join(old, GroupId{0});
  spec.slot_count = 6;
  EXPECT_THROW(RingOwner(
                   files, spec, [](const std::string&) {}, [] { return true; }),
               RingBusy);
  EXPECT_TRUE(old.names_intact()) << "its users still have it";
}

}  // namespace
}  // namespace tailrace
