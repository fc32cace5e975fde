#include "shm/ring_owner.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "tests/shm/support.hpp"

namespace tailrace {
namespace {

using ::testing::AllOf;
using testing::Child;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::own;
using testing::publish_batch;
using testing::small_spec;
using testing::TempFolder;

/// One run of a producer, publishing so many batches from where the ring says.
struct Producer {
  Producer(const RingFiles& files, const RingSpec& spec)
      : owner(own(files, spec)),
        janitor(owner.ring(), kProducerId, {}),
        queue(owner.ring(), janitor, std::chrono::nanoseconds(0), owner.start().next_seq) {}
  void publish(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i)
      ASSERT_TRUE(publish_batch(queue, value_of(owner.start().next) + published++));
  }
  RingOwner owner;
  Janitor janitor;
  FreeQueue queue;
  std::uint64_t published = 0;
};

struct Consumer {
  Consumer(const Ring& ring, GroupId group)
      : participant(*Participant::join(ring, group)),
        janitor(ring, participant.id(), {}),
        queue(ring, group, participant, janitor, std::chrono::nanoseconds(0)) {}
  std::vector<std::uint64_t> commit_all() {
    std::vector<std::uint64_t> batches;
    for (Lease lease; queue.try_lease(lease) == LeaseOutcome::kLeased;) {
      batches.push_back(testing::checked_batch(lease));
      EXPECT_TRUE(lease.commit());
    }
    return batches;
  }
  Participant participant;
  Janitor janitor;
  ReadyQueue queue;
};

void commit_all(const Ring& ring) {
  for (const std::uint32_t g : {0U, 1U}) Consumer(ring, GroupId{g}).commit_all();
}

template <typename Error>
std::string message_of(const RingFiles& files, const RingSpec& spec) {
  try {
    (void)own(files, spec);
  } catch (const Error& error) {
    return error.what();
  }
  return "no exception";
}

class Owning : public ::testing::Test {
 protected:
  TempFolder folder;
  RingFiles files = folder.files();
  RingSpec spec = small_spec();
};

TEST_F(Owning, RefusesASecondProducerAndNamesTheFirst) {
  Child first([&](const Child::Line& line) {
    const RingOwner owner = own(files, spec);
    line.say('o');
    (void)line.hear();
  });
  ASSERT_EQ(first.hear(), 'o');
  EXPECT_THAT(message_of<RingBusy>(files, spec), HasSubstr("pid " + std::to_string(first.pid())));
  EXPECT_THAT(clean_ring(files).value_or(""), HasSubstr("pid " + std::to_string(first.pid())));
  first.kill_now();
  EXPECT_NO_THROW((void)own(files, spec));
}

TEST_F(Owning, RefusesSpecificationsThatNoRingCanHave) {
  const auto refused = [&](auto change) {
    RingSpec bad = spec;
    change(bad);
    EXPECT_THROW((void)own(files, bad), std::invalid_argument);
  };
  refused([](RingSpec& s) { s.slot_count = 0; });
  refused([](RingSpec& s) { s.slot_count = kMaxSlots + 1; });
  refused([](RingSpec& s) { s.slot_bytes = 0; });
  refused([](RingSpec& s) { s.slot_bytes = UINT64_MAX; });
  refused([](RingSpec& s) { s.groups.clear(); });
  refused([](RingSpec& s) { s.groups.resize(kMaxGroups + 1, {"g", 3}); });
  refused([](RingSpec& s) { s.groups[0].name = "../x"; });
  refused([](RingSpec& s) { s.groups[0].max_attempts = 31; });
  EXPECT_THAT(folder.names(), IsEmpty());
}

TEST_F(Owning, RetriesWhenTheLockFileWasUnlinkedAfterItWasOpened) {
  auto role = ProducerRole::try_take(files);
  ASSERT_TRUE(role);
  unlink(files.lock.c_str());
  auto second = ProducerRole::try_take(files);
  ASSERT_TRUE(second) << "a new file of the name";
  EXPECT_FALSE(ProducerRole::try_take(files)) << "and that one is held";
}

TEST_F(Owning, RemovesNothingOfASuccessorWhenItsNamesWereLost) {
  RingOwner lost = own(files, spec);
  for (const auto& path : {files.control, files.data, files.lock}) unlink(path.c_str());
  EXPECT_FALSE(lost.ring().names_intact());
  const RingOwner successor = own(files, spec);
  lost.remove_files();
  EXPECT_TRUE(successor.ring().names_intact());
  EXPECT_TRUE(std::filesystem::exists(files.lock));
}

TEST_F(Owning, RemovesEveryNameAtTheEnd) {
  RingOwner owner = own(files, spec);
  owner.remove_files();
  EXPECT_THAT(folder.names(), IsEmpty());
}

TEST_F(Owning, GoesOnWhereThePredecessorStopped) {
  {
    Producer first(files, spec);
    first.publish(3);
  }
  Producer second(files, spec);
  EXPECT_TRUE(second.owner.taken_over());
  EXPECT_EQ(second.owner.start().next, BatchNumber{3});
  EXPECT_EQ(second.owner.start().next_seq, BatchSeq{4});
  second.publish(1);
  EXPECT_THAT(Consumer(second.owner.ring(), GroupId{0}).commit_all(), ElementsAre(0, 1, 2, 3));
}

TEST_F(Owning, LeavesThePidBehindWhileSlotsAreFillingSoThatItsSuccessorWaits) {
  Child first([&](const Child::Line& line) {
    {
      Producer producer(files, spec);
      (void)producer.queue.try_claim();  // a copy into it may be running until this process has ended
    }
    line.say('l');
    (void)line.hear();
  });
  ASSERT_EQ(first.hear(), 'l');
  std::vector<std::string> said;
  int asked = 0;
  EXPECT_THROW(
      RingOwner(
          files, spec, [&](const std::string& text) { said.push_back(text); }, [&] { return ++asked == 2; }),
      RingBusy);
  EXPECT_THAT(said, ElementsAre(HasSubstr("pid " + std::to_string(first.pid()))));
  EXPECT_EQ(testing::attach(files, RingAccess::kObserver).protocol().count(GroupId{0}).filling, 1U)
      << "recycled under a living predecessor";
  first.kill_now();
  const RingOwner second = own(files, spec);
  EXPECT_EQ(second.ring().protocol().count(GroupId{0}).free, 4U);
}

TEST_F(Owning, WaitsForAPredecessorThatLivesAlthoughItsLocksAreFree) {
  Child first([&](const Child::Line& line) {
    { (void)own(files, spec); }
    // As after a kill while the last copy runs: locks free, process still there.
    const Ring ring = testing::attach(files, RingAccess::kConsumer);
    ring.participants()[0].pid = static_cast<std::uint32_t>(getpid());
    line.say('f');
    (void)line.hear();
  });
  ASSERT_EQ(first.hear(), 'f');
  bool waited = false;
  const RingOwner second(
      files, spec, [](const std::string&) {},
      [&] {
        waited = true;
        first.send(SIGKILL);
        return false;
      });
  EXPECT_TRUE(waited);
  EXPECT_TRUE(second.taken_over());
}

TEST_F(Owning, AcceptsLargerSlotsAndReplacesSmallerOnes) {
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
TEST_F(Owning, ReplacesARingOfAnotherSlotCountByOneThatStartsWithTheFirstBatch) {
  {
    Producer producer(files, spec);
    producer.publish(2);
    commit_all(producer.owner.ring());
  }
  spec.slot_count = 6;
  const RingOwner owner = own(files, spec);
  EXPECT_FALSE(owner.taken_over());
  EXPECT_EQ(owner.ring().geometry().slot_count, 6U);
  EXPECT_EQ(owner.start().next, BatchNumber{0});
  EXPECT_EQ(owner.start().next_seq, BatchSeq{1});
}

TEST_F(Owning, ReplacesARingOfOtherGroups) {
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

TEST_F(Owning, StartsAnewWhereARetiredRingWasDiscardedHalfDone) {
  {
    Producer producer(files, spec);
    producer.publish(2);
    producer.owner.ring().header().ring_state = RingState::kRetired;  // `clean` was killed before it unlinked
  }
  EXPECT_EQ(own(files, spec).start().next, BatchNumber{0});
}

TEST_F(Owning, RefusesAnotherJobWhileBatchesOfTheOldOneAreUnfinished) {
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

TEST_F(Owning, ReplacesTheRingOfAnotherJobThatIsFinished) {
  {
    Producer producer(files, spec);
    producer.publish(2);
    commit_all(producer.owner.ring());
  }
  spec.job_digest = 1;
  const RingOwner owner = own(files, spec);
  EXPECT_FALSE(owner.taken_over());
  EXPECT_EQ(owner.start().next, BatchNumber{0});
}

TEST_F(Owning, ReplacesARingFromBeforeTheLastBoot) {
  { Producer(files, spec).publish(2); }
  {
    const UniqueFd fd(open(files.control.c_str(), O_WRONLY | O_CLOEXEC));
    ASSERT_EQ(pwrite(fd.get(), "00000000", 8, 88), 8);
  }
  const RingOwner owner = own(files, spec);
  EXPECT_FALSE(owner.taken_over());
  EXPECT_EQ(owner.start().next, BatchNumber{0});
}

TEST_F(Owning, RefusesAnotherLayoutInUseWithBothVersionsAndReplacesADeadOne) {
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

TEST_F(Owning, RefusesACursorBeyondTheJob) {
  { Producer(files, spec).publish(1); }
  testing::attach(files, RingAccess::kConsumer).header().cursor = spec.items.batch_count() + 1;
  EXPECT_THAT(message_of<RingMismatch>(files, spec), AllOf(HasSubstr("cursor"), HasSubstr("1000001")));
  EXPECT_EQ(clean_ring(files), std::nullopt);
}

TEST_F(Owning, RefusesAnImpossibleWord) {
  { Producer(files, spec).publish(1); }
  {
    const Ring ring = testing::attach(files, RingAccess::kConsumer);
    auto* base = reinterpret_cast<std::byte*>(&ring.header());
    *reinterpret_cast<SlotProtocol::Word*>(base + control_offsets(4, 2).group_words) = ~std::uint64_t{0};
  }
  EXPECT_THAT(message_of<RingMismatch>(files, spec), HasSubstr("slot 0, group 0"));
}

TEST_F(Owning, ReplacesARingWhoseSequenceNumbersAreUsedUp) {
  {
    Producer producer(files, spec);
    producer.publish(2);
    commit_all(producer.owner.ring());
  }
  testing::attach(files, RingAccess::kConsumer).header().next_seq = value_of(kLastSeq);
  const RingOwner owner = own(files, spec);
  EXPECT_FALSE(owner.taken_over());
  EXPECT_EQ(owner.start().next_seq, BatchSeq{1});
}

TEST_F(Owning, ReopensAFinishedRingWithBatchesLeftOnly) {
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

// The bytes of published batches go with the old ring: its consumers must have had all of them.
TEST_F(Owning, LeavesTheOldRingToItsConsumersUntilItIsFinished) {
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
TEST_F(Owning, WaitsInTheOldRingOnlyForGroupsThatSomebodyWorksFor) {
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
TEST_F(Owning, TakesNoRingOverThatItsPredecessorRetiresMeanwhile) {
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

TEST_F(Owning, NamesTheFilesThatSomebodyRemovedOrReplaced) {
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

TEST_F(Owning, RetiresALostRingWhenItsConsumersHaveWhatIsPublishedAndHaveLeft) {
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

TEST_F(Owning, MakesANewRingWhicheverOfItsFilesSomebodyRemoved) {
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
TEST_F(Owning, TellsTheConsumersOfARingWithoutDataToLeaveIt) {
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

TEST_F(Owning, GivesUpWaitingForTheOldRingsUsersWhenTold) {
  { Producer(files, spec).publish(1); }
  const Ring old = testing::attach(files, RingAccess::kConsumer);
  const auto user = Participant::join(old, GroupId{0});
  spec.slot_count = 6;
  EXPECT_THROW(RingOwner(
                   files, spec, [](const std::string&) {}, [] { return true; }),
               RingBusy);
  EXPECT_TRUE(old.names_intact()) << "its users still have it";
}

TEST_F(Owning, SaysThatADeadProducersChildStillHoldsItsLock) {
  { (void)own(files, spec); }
  const Ring ring = testing::attach(files, RingAccess::kConsumer);
  ByteLock lock(reopen(ring.control_fd(), O_RDWR));
  ASSERT_TRUE(lock.try_lock(0));
  EXPECT_THAT(message_of<std::runtime_error>(files, spec), HasSubstr("still holds its lock"));
}

TEST_F(Owning, CleansADeadRingAndNothingAtAll) {
  { Producer(files, spec).publish(1); }
  std::ofstream(unfinished(files.data)) << "x";
  EXPECT_EQ(clean_ring(files), std::nullopt);
  EXPECT_THAT(folder.names(), IsEmpty());
  EXPECT_EQ(clean_ring(files), std::nullopt);
  EXPECT_THAT(folder.names(), IsEmpty());
}

TEST_F(Owning, RefusesToCleanUnderALivingConsumer) {
  { Producer(files, spec).publish(1); }
  Child child([&](const Child::Line& line) {
    const Ring ring = testing::attach(files, RingAccess::kConsumer);
    const auto participant = Participant::join(ring, GroupId{0});
    line.say('j');
    (void)line.hear();
  });
  ASSERT_EQ(child.hear(), 'j');
  EXPECT_THAT(clean_ring(files).value_or(""), HasSubstr("pid " + std::to_string(child.pid())));
  EXPECT_TRUE(std::filesystem::exists(files.control));
  child.kill_now();
  EXPECT_EQ(clean_ring(files), std::nullopt);
}

TEST_F(Owning, LetsRootTakeAnotherUsersLockFileInAStickyFolder) {
  int protected_regular = 0;
  std::ifstream("/proc/sys/fs/protected_regular") >> protected_regular;
  if (geteuid() != 0 || protected_regular == 0) GTEST_SKIP() << "needs root and fs.protected_regular";
  std::filesystem::permissions(folder.path(), std::filesystem::perms{01777});
  ASSERT_EQ(chown(folder.path().c_str(), 4711, 4711), 0);
  std::ofstream(files.lock).flush();
  ASSERT_EQ(chown(files.lock.c_str(), 4712, 4712), 0);
  EXPECT_TRUE(ProducerRole::try_take(files));
}

TEST_F(Owning, AForkedChildsEndChangesNothingForItsParent) {
  Producer producer(files, spec);
  Child child([&](const Child::Line&) {
    producer.owner.~RingOwner();
    _exit(0);
  });
  EXPECT_EQ(child.join(), 0);
  EXPECT_EQ(producer.owner.ring().participants()[0].pid, static_cast<std::uint32_t>(getpid()));
  EXPECT_TRUE(LockLiveness(producer.owner.ring()).is_held(kProducerId));
  EXPECT_FALSE(ProducerRole::try_take(files));
}

TEST_F(Owning, AnEntryTakenOverHandsItsLeasesOnWithAWakeUpAndCountsThem) {
  Producer producer(files, spec);
  producer.publish(1);
  const Ring& ring = producer.owner.ring();
  ASSERT_TRUE(ring.protocol().try_lease(GroupId{0}, {ParticipantId{1}, 0}, LeaseFilter::kAny));
  const std::uint32_t ticket = ring.ready_events().prepare();
  const auto successor = Participant::join(ring, GroupId{0});
  ASSERT_EQ(successor->id(), ParticipantId{1});
  EXPECT_EQ(successor->swept().size(), 1U);
  EXPECT_NE(ring.ready_events().prepare(), ticket);
  EXPECT_EQ(ring.group_counters(GroupId{0}).get(Counter::kRedeliveries), 1U);
}

TEST_F(Owning, TheParticipantTableTakesTwoHundredAndFiftyFiveConsumersInAnyNumberOfProcesses) {
  const RingOwner owner = own(files, spec);
  std::vector<std::unique_ptr<Child>> children;
  std::size_t joined = 0;
  for (int i = 0; i < 6; ++i) {  // a process may hold at most 64 byte locks
    children.push_back(std::make_unique<Child>([&](const Child::Line& line) {
      const Ring ring = testing::attach(files, RingAccess::kConsumer);
      std::vector<Participant> participants;
      while (participants.size() < 50) {
        auto participant = Participant::join(ring, GroupId{0});
        if (!participant) break;
        participants.push_back(std::move(*participant));
      }
      line.say(static_cast<char>(participants.size() + 1));
      (void)line.hear();
    }));
    joined += static_cast<std::size_t>(children.back()->hear()) - 1;
  }
  EXPECT_EQ(joined, kMaxParticipants - 1);
  EXPECT_FALSE(Participant::join(owner.ring(), GroupId{0})) << "full";
  children.front()->kill_now();
  EXPECT_TRUE(Participant::join(owner.ring(), GroupId{0}));
}

}  // namespace
}  // namespace tailrace
