// Processes of every role, killed at random and started again.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <random>
#include <thread>

#include "os/clock.hpp"
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

constexpr std::uint64_t kMaxBatches = 4'000'000;
constexpr std::uint64_t kSeconds = 5;
constexpr std::chrono::milliseconds kWait{20};

/// What the processes tell the test: shared memory of its own, one byte per group and batch.
class Ledger {
 public:
  Ledger()
      : entries_(static_cast<Entry*>(
            mmap(nullptr, 2 * kMaxBatches, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))),
        stop_(static_cast<std::atomic<bool>*>(
            mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;
  ~Ledger() {
    munmap(entries_, 2 * kMaxBatches);
    munmap(stop_, 4096);
  }
  // The unique row comes before the commit, so that a death between them is a second delivery, not a loss.
  using Entry = std::atomic<std::uint8_t>;
  [[nodiscard]] Entry& at(std::uint32_t group, std::uint64_t number) const {
    return entries_[group * kMaxBatches + number];
  }
  [[nodiscard]] std::atomic<bool>& stop() const { return *stop_; }

 private:
  Entry* entries_;
  std::atomic<bool>* stop_;
};

constexpr std::uint8_t kRow = 1;        // the ledger's row is written
constexpr std::uint8_t kCommitted = 2;  // and the commit has returned
constexpr std::uint8_t kTwice = 4;      // delivered after a commit that had returned

void produce(const RingFiles& files, const RingSpec& spec, const Ledger& ledger) {
  RingOwner owner = own(files, spec);
  Janitor janitor(owner.ring(), kProducerId, {});
  FreeQueue queue(owner.ring(), janitor, std::chrono::nanoseconds(0), owner.start().next_seq);
  std::uint64_t number = value_of(owner.start().next);
  while (!ledger.stop() && number < kMaxBatches) {
    if (publish_batch(queue, number))
      ++number;
    else if (auto filling = queue.wait_claim(kWait))
      filling->abandon();
  }
}

void consume(const RingFiles& files, std::uint32_t group, const Ledger& ledger, bool until_empty) {
  const Ring ring = attach(files, RingAccess::kConsumer);
  const auto participant = Participant::join(ring, GroupId{group});
  Janitor janitor(ring, participant->id(), {});
  ReadyQueue queue(ring, GroupId{group}, *participant, janitor, std::chrono::nanoseconds(0));
  std::minstd_rand random(static_cast<unsigned>(getpid()));
  for (;;) {
    Lease lease;
    const LeaseOutcome outcome = queue.wait_lease(lease, kWait);
    if (outcome != LeaseOutcome::kLeased) {
      if (until_empty && ring.protocol().group_is_done(GroupId{group})) return;
      continue;
    }
    auto& entry = ledger.at(group, checked_batch(lease));
    if ((entry & kCommitted) != 0) entry |= kTwice;
    if (random() % 16 == 0) {
      (void)lease.give_back();
      continue;
    }
    entry |= kRow;
    if (lease.commit()) entry |= kCommitted;
  }
}

TEST(Chaos, OfRandomKillsLosesNothingDoublesNothingAndLeavesEverySlotDone) {
  if (testing::kSanitized) GTEST_SKIP() << "a matter of speed; the threads' variant runs under sanitizers";
  const TempFolder folder;
  const RingFiles files = folder.files();
  RingSpec spec = small_spec();
  spec.groups = {{"one", 0}, {"two", 0}};
  spec.items.position_count = kMaxBatches;
  (void)own(files, spec);
  const Ledger ledger;
  std::array<std::unique_ptr<Child>, 7> children;
  const auto start = [&](std::size_t role) {
    children[role] = std::make_unique<Child>([&, role](const Child::Line&) {
      if (role == 0)
        produce(files, spec, ledger);
      else
        consume(files, role % 2, ledger, false);
    });
  };
  for (std::size_t role = 0; role < children.size(); ++role) start(role);
  std::mt19937 random(1);
  int kills = 0;
  const std::uint64_t end = monotonic_ns() + kSeconds * 1'000'000'000;
  while (monotonic_ns() < end) {
    std::this_thread::sleep_for(
        std::chrono::microseconds(random() % 3000));  // the time of a kill is the input
    const std::size_t role = random() % 4 == 0 ? 0 : random() % children.size();
    ASSERT_EQ(children[role]->kill_now(), -SIGKILL) << "role " << role << " ended by itself";
    ++kills;
    start(role);
  }
  for (auto& child : children) child->kill_now();

  RingOwner owner = own(files, spec);
  const std::uint64_t published = value_of(owner.start().next);
  for (const std::uint32_t group : {0U, 1U}) consume(files, group, ledger, true);
  EXPECT_TRUE(owner.ring().protocol().all_done());
  EXPECT_EQ(owner.ring().protocol().find_damage(kMaxParticipants), std::nullopt);
  std::uint64_t lost = 0;
  std::uint64_t twice = 0;
  for (const std::uint32_t group : {0U, 1U}) {
    for (std::uint64_t number = 0; number < published; ++number) {
      lost += (ledger.at(group, number) & kRow) == 0;
      twice += (ledger.at(group, number) & kTwice) != 0;
    }
    EXPECT_EQ(ledger.at(group, published), 0) << "a batch that was never published";
  }
  printf("%d kills, %llu batches\n", kills, static_cast<unsigned long long>(published));
  EXPECT_EQ(lost, 0U);
  EXPECT_EQ(twice, 0U);
  EXPECT_GT(published, 100U);
}

}  // namespace
}  // namespace tailrace
