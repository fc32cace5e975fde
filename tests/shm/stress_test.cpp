// Threads that run the real queues of one ring, for ThreadSanitizer and AddressSanitizer.
#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "shm/housekeeper.hpp"
#include "tests/shm/support.hpp"

namespace tailrace {
namespace {

using testing::attach;
using testing::checked_batch;
using testing::own;
using testing::publish_batch;
using testing::small_spec;
using testing::TempFolder;

constexpr std::uint64_t kBatches = testing::kSanitized ? 20'000 : 30'000;
constexpr std::chrono::milliseconds kWait{50};

TEST(Threads, OfOneProducerAndTwoGroupsGetEveryBatchOncePerGroup) {
  const TempFolder folder;
  RingSpec spec = small_spec();
  spec.groups = {{"one", 0}, {"two", 0}};
  spec.items.position_count = kBatches;
  RingOwner owner = own(folder.files(), spec);
  std::array<std::vector<std::atomic<int>>, 2> commits{std::vector<std::atomic<int>>(kBatches),
                                                       std::vector<std::atomic<int>>(kBatches)};
  std::atomic<int> failures{0};
  std::atomic<bool> done{false};

  const auto consume = [&](std::uint32_t group, std::chrono::nanoseconds spin, unsigned seed) {
    const Ring ring = attach(folder.files(), RingAccess::kConsumer);
    const auto participant = Participant::join(ring, GroupId{group});
    Janitor janitor(ring, participant->id(), {});
    ReadyQueue queue(ring, GroupId{group}, *participant, janitor, spin);
    std::minstd_rand random(seed);
    for (;;) {
      Lease lease;
      const LeaseOutcome outcome = queue.wait_lease(lease, kWait);
      if (outcome == LeaseOutcome::kFinished) return;
      if (outcome != LeaseOutcome::kLeased) continue;
      const std::uint64_t number = checked_batch(lease);
      const auto choice = random() % 10;
      if (choice == 0) {
        if (!lease.give_back()) ++failures;
      } else if (choice == 1) {
        lease = Lease();  // as an exception would
      } else {
        ++commits[group][number];
        if (!lease.commit()) ++failures;
      }
    }
  };

  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 6; ++i)
    threads.emplace_back(consume, i % 2, std::chrono::microseconds(i % 3 == 0 ? 20 : 0), i + 1);
  std::thread janitor_thread([&] {
    Janitor janitor(owner.ring(), kProducerId, {});
    while (!done) {
      if (janitor.do_work() != 0) ++failures;  // nobody dies here
      if (owner.ring().protocol().find_damage(kMaxParticipants)) ++failures;
      std::this_thread::yield();
    }
  });
  {
    const Housekeeper housekeeper(owner.ring(), owner.participant(), {});
    Janitor janitor(owner.ring(), kProducerId, {});
    FreeQueue queue(owner.ring(), janitor, std::chrono::nanoseconds(0), owner.start().next_seq);
    for (std::uint64_t number = 0; number < kBatches;) {
      if (publish_batch(queue, number)) {
        ++number;
        continue;
      }
      if (auto filling = queue.wait_claim(kWait)) filling->abandon();
    }
    owner.set_finished();
    for (std::thread& thread : threads) thread.join();
    done = true;
    janitor_thread.join();
    EXPECT_FALSE(housekeeper.damage());
  }
  EXPECT_EQ(failures, 0);
  for (const auto& group : commits)
    for (std::uint64_t number = 0; number < kBatches; ++number) ASSERT_EQ(group[number], 1) << number;
  EXPECT_TRUE(owner.ring().protocol().all_done());
}

}  // namespace
}  // namespace tailrace
