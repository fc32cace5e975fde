#include "shm/housekeeper.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <thread>

#include "os/clock.hpp"
#include "tests/shm/support.hpp"

namespace tailrace {
namespace {

using testing::attach;
using testing::Child;
using testing::own;
using testing::publish_batch;
using testing::small_spec;
using testing::TempFolder;

/// What a housekeeper's callbacks said, waited for.
class Reports {
 public:
  [[nodiscard]] Housekeeper::Callbacks callbacks() {
    return {[this](const ReclaimedLease& lease) { put(reclaimed_, lease); },
            [this](const PeerDeath& death) { put(deaths_, death); }};
  }
  ReclaimedLease reclaimed() { return take(reclaimed_); }
  PeerDeath death() { return take(deaths_); }

 private:
  template <typename T>
  void put(std::vector<T>& to, const T& value) {
    const std::lock_guard lock(mutex_);
    to.push_back(value);
    changed_.notify_all();
  }
  template <typename T>
  T take(std::vector<T>& from) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !from.empty(); });
    T value = from.front();
    from.erase(from.begin());
    return value;
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<ReclaimedLease> reclaimed_;
  std::vector<PeerDeath> deaths_;
};

class Housekeeping : public ::testing::Test {
 protected:
  // Children are forked before the housekeeper's thread starts.
  [[nodiscard]] std::unique_ptr<Child> consumer(bool with_child) const {
    auto child = std::make_unique<Child>([this, with_child](const Child::Line& line) {
      const Ring ring = attach(files, RingAccess::kConsumer);
      const auto participant = Participant::join(ring, GroupId{0});
      if (!ring.protocol().try_lease(GroupId{0}, participant->owner(), LeaseFilter::kAny)) _exit(5);
      if (with_child) {
        // A child that keeps the lock although it should not: as one made by vfork or clone might.
        const UniqueFd keep(fcntl(find_lock_fd(ring), F_DUPFD_CLOEXEC, 100));
        if (fork() == 0) {
          line.say('l');
          (void)line.hear();
          _exit(0);
        }
        (void)pause();
      }
      line.say('l');
      (void)line.hear();
    });
    EXPECT_EQ(child->hear(), 'l');
    return child;
  }
  // The participant's lock is the last description of the control file that was opened.
  static int find_lock_fd(const Ring& ring) {
    int found = -1;
    for (int fd = ring.control_fd() + 1; fd < 64; ++fd)
      if (same_file(fd, ring.files().control)) found = fd;
    return found;
  }

  TempFolder folder;
  RingFiles files = folder.files();
  std::unique_ptr<RingOwner> owner = std::make_unique<RingOwner>(own(files, small_spec()));
  Janitor janitor{owner->ring(), kProducerId, {}};
  FreeQueue queue{owner->ring(), janitor, std::chrono::nanoseconds(0), owner->start().next_seq};
  Reports reports;
};

TEST_F(Housekeeping, GivesOnWhatADeadPeerHeldAndSaysWhoItWas) {
  ASSERT_TRUE(publish_batch(queue, 0));
  auto child = consumer(false);
  const Housekeeper housekeeper(owner->ring(), owner->participant(), reports.callbacks());
  const auto ticket = owner->ring().ready_events().prepare();
  const std::uint64_t killed_ns = monotonic_ns();
  child->kill_now();
  const ReclaimedLease lease = reports.reclaimed();
  RecordProperty("microseconds_to_reclaim", static_cast<int>((monotonic_ns() - killed_ns) / 1000));
  EXPECT_EQ(lease.seq, BatchSeq{1});
  EXPECT_EQ(lease.owner, ParticipantId{1});
  while (owner->ring().ready_events().prepare() == ticket)
    owner->ring().ready_events().wait(ticket, std::chrono::hours(1), std::chrono::nanoseconds(0));
}

TEST_F(Housekeeping, ReportsTheDeathOfAPeerThatItHasSeenAlive) {
  ASSERT_TRUE(publish_batch(queue, 0));
  auto child = consumer(false);
  const pid_t pid = child->pid();
  const Housekeeper housekeeper(owner->ring(), owner->participant(), reports.callbacks());
  // A first round has found the peer once the heartbeat is there a second time.
  const auto& heartbeat = owner->participant().record().heartbeat_ns;
  for (const std::uint64_t start = heartbeat; heartbeat == start;) std::this_thread::yield();
  child->kill_now();
  const PeerDeath death = reports.death();
  EXPECT_EQ(death.process.pid, pid);
  EXPECT_EQ(death.id, ParticipantId{1});
  EXPECT_EQ(death.role, Role::kConsumer);
  EXPECT_FALSE(death.lock_still_held);
}

TEST_F(Housekeeping, ReclaimsNothingWhileAChildOfTheDeadHoldsItsLock) {
  ASSERT_TRUE(publish_batch(queue, 0));
  auto child = consumer(true);
  const Housekeeper housekeeper(owner->ring(), owner->participant(), reports.callbacks());
  const auto& heartbeat = owner->participant().record().heartbeat_ns;
  for (const std::uint64_t start = heartbeat; heartbeat == start;) std::this_thread::yield();
  child->kill_now();
  EXPECT_TRUE(reports.death().lock_still_held);
  EXPECT_EQ(owner->ring().protocol().group_word(SlotId{0}, GroupId{0}).state, GroupState::kLeased);
  child.reset();  // closes the pipe: the grandchild ends, too
  EXPECT_EQ(reports.reclaimed().owner, ParticipantId{1});
}

TEST_F(Housekeeping, NoticesThatTheNamesWereRemoved) {
  const Housekeeper housekeeper(owner->ring(), owner->participant(), {});
  EXPECT_FALSE(housekeeper.names_lost());
  unlink(files.data.c_str());
  while (!housekeeper.names_lost()) std::this_thread::yield();
}

TEST_F(Housekeeping, NoticesThatTheFileOfTheProducersRoleWasRemoved) {
  Housekeeper::Callbacks callbacks;
  callbacks.names_intact = [this] { return owner->names_intact(); };
  const Housekeeper housekeeper(owner->ring(), owner->participant(), callbacks);
  EXPECT_FALSE(housekeeper.names_lost());
  unlink(files.lock.c_str());
  while (!housekeeper.names_lost()) std::this_thread::yield();
}

TEST_F(Housekeeping, LooksAgainAndAgainAtWhatElseItsProcessWatches) {
  std::atomic<int> looks = 0;
  Housekeeper::Callbacks callbacks;
  callbacks.on_check = [&] { ++looks; };
  const Housekeeper housekeeper(owner->ring(), owner->participant(), callbacks);
  while (looks < 2) std::this_thread::yield();
}

TEST_F(Housekeeping, NoticesDamage) {
  auto* base = reinterpret_cast<std::byte*>(&owner->ring().header());
  *reinterpret_cast<SlotProtocol::Word*>(base + control_offsets(4, 2).producer_words) = ~std::uint64_t{0};
  const Housekeeper housekeeper(owner->ring(), owner->participant(), {});
  while (!housekeeper.damage()) std::this_thread::yield();
  EXPECT_THAT(*housekeeper.damage(), ::testing::HasSubstr("slot 0"));
}

TEST_F(Housekeeping, KnowsSinceWhenThereIsNoProducerAndThatThereIsOneAgain) {
  const Ring ring = attach(files, RingAccess::kConsumer);
  const auto participant = Participant::join(ring, GroupId{0});
  const Housekeeper housekeeper(ring, *participant, {});
  owner.reset();
  while (!housekeeper.producer_gone_since_ns()) std::this_thread::yield();
  EXPECT_LE(*housekeeper.producer_gone_since_ns(), monotonic_ns());
  owner = std::make_unique<RingOwner>(own(files, small_spec()));
  while (housekeeper.producer_gone_since_ns()) std::this_thread::yield();
}

TEST_F(Housekeeping, EndsAtOnceHoweverOftenItStarts) {
  for (int i = 0; i < 50; ++i) const Housekeeper housekeeper(owner->ring(), owner->participant(), {});
}

}  // namespace
}  // namespace tailrace
