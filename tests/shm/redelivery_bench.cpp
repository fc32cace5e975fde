// How long a batch of a killed consumer takes to another one: redelivery_bench [ROUNDS]
//
// A consumer leases a batch and is killed, while another one waits with nothing to do. Prints, over all
// rounds, milliseconds from the moment at which the dead one's pidfd became readable to the survivor's lease.
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "os/clock.hpp"
#include "shm/housekeeper.hpp"
#include "tests/shm/support.hpp"

namespace tailrace {
namespace {

using testing::Child;

constexpr GroupId kGroup{0};
constexpr std::chrono::nanoseconds kNoSpin{0};

/// Shared with the survivor.
struct Times {
  std::atomic<std::uint64_t> leased_ns;
};

Times* map_times() {
  void* page = mmap(nullptr, sizeof(Times), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return page == MAP_FAILED ? nullptr : new (page) Times{};
}

// As a consumer's loop: its housekeeper watches the others while it waits.
void survive(const RingFiles& files, const Child::Line& line, Times& times) {
  const Ring ring = testing::attach(files, RingAccess::kConsumer);
  const auto participant = Participant::join(ring, kGroup);
  Janitor janitor(ring, participant->id(), {});
  const Housekeeper housekeeper(ring, *participant, {});
  ReadyQueue queue(ring, kGroup, *participant, janitor, kNoSpin);
  for (line.say('j'); line.hear() == 'g';) {
    // The other one is there for longer than a round of the housekeeper.
    const auto& heartbeat = participant->record().heartbeat_ns;
    for (int i = 0; i < 2; ++i)
      for (const std::uint64_t start = heartbeat; heartbeat == start;) usleep(1000);
    line.say('r');
    Lease lease;
    while (queue.wait_lease(lease, std::chrono::milliseconds(100)) != LeaseOutcome::kLeased) {
    }
    times.leased_ns = monotonic_ns();
    lease.commit();
    line.say('l');
  }
}

void hold_a_batch(const RingFiles& files, const Child::Line& line) {
  const Ring ring = testing::attach(files, RingAccess::kConsumer);
  const auto participant = Participant::join(ring, kGroup);
  Janitor janitor(ring, participant->id(), {});
  ReadyQueue queue(ring, kGroup, *participant, janitor, kNoSpin);
  Lease lease;
  if (queue.try_lease(lease) == LeaseOutcome::kLeased) line.say('h');
  (void)line.hear();
}

// From the pidfd's event to the lease.
double round_ms(const RingFiles& files, FreeQueue& free, std::uint64_t number, const Child& survivor,
                const Times& times) {
  if (!testing::publish_batch(free, number)) throw std::runtime_error("no free slot");
  Child victim([&](const Child::Line& line) { hold_a_batch(files, line); });
  if (victim.hear() != 'h') throw std::runtime_error("the batch could not be leased");
  survivor.say('g');
  (void)survivor.hear();
  const UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, victim.pid(), 0)));
  victim.send(SIGKILL);
  pollfd entry{pidfd.get(), POLLIN, 0};
  poll(&entry, 1, -1);
  const std::uint64_t ended_ns = monotonic_ns();
  (void)survivor.hear();
  return std::max(0.0, (static_cast<double>(times.leased_ns) - static_cast<double>(ended_ns)) / 1e6);
}

int measure(std::size_t rounds) {
  const testing::TempFolder folder;
  const RingFiles files = folder.files();
  RingSpec spec = testing::small_spec();
  spec.groups = {{"one", 0}};
  const RingOwner owner = testing::own(files, spec);
  Janitor janitor(owner.ring(), kProducerId, {});
  FreeQueue free(owner.ring(), janitor, kNoSpin, owner.start().next_seq);
  Times* times = map_times();
  const Child survivor([&](const Child::Line& line) { survive(files, line, *times); });
  (void)survivor.hear();
  std::vector<double> all;
  for (std::size_t i = 0; i < rounds; ++i) all.push_back(round_ms(files, free, i, survivor, *times));
  std::sort(all.begin(), all.end());
  printf("redelivery after a kill, ms: p50 %.3f, p99 %.3f, max %.3f (%zu rounds)\n", all[rounds / 2],
         all[rounds * 99 / 100], all.back(), rounds);
  return 0;
}

}  // namespace
}  // namespace tailrace

int main(int argc, char** argv) {
  const long rounds = argc == 2 ? std::strtol(argv[1], nullptr, 10) : 100;
  if (argc > 2 || rounds < 1) {
    fprintf(stderr, "usage: redelivery_bench [ROUNDS]\n");
    return 2;
  }
  return tailrace::measure(static_cast<std::size_t>(rounds));
}
