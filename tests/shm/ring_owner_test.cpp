#include "shm/ring_owner.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/shm/owning.hpp"

namespace tailrace {
namespace {

using testing::Child;
using testing::Consumer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::message_of;
using testing::own;
using testing::Owning;
using testing::Producer;

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

}  // namespace
}  // namespace tailrace
