#include "ctl/bench/ring_handoff.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "config/exit_codes.hpp"
#include "ctl/bench/bench_error.hpp"
#include "ctl/bench/forked_process.hpp"
#include "ctl/bench/gate.hpp"
#include "ctl/bench/measured_run.hpp"
#include "ctl/bench/ring_remover.hpp"
#include "ctl/bench/shared_array.hpp"
#include "os/clock.hpp"
#include "shm/descriptor.hpp"
#include "shm/free_queue.hpp"
#include "shm/ready_queue.hpp"

namespace tailrace {
namespace {

constexpr std::chrono::milliseconds kWait{100};
constexpr GroupId kGroup{0};

struct ConsumerRecord {
  std::uint64_t batches;
  std::uint64_t last_commit_ns;
};

/// What the processes of one measurement share.
struct Arena {
  explicit Arena(const RingHandoffLoad& wanted)
      : load(wanted),
        files(bench_name(), RingFiles::kControlDirectory),
        start_ns(1),
        consumers(wanted.consumers),
        latencies_ns(wanted.batches) {}

  RingHandoffLoad load;
  RingFiles files;
  Gate ring_made;
  Gate consumer_joined;
  SharedArray<std::uint64_t> start_ns;
  SharedArray<ConsumerRecord> consumers;
  SharedArray<std::uint64_t> latencies_ns;  // by batch number; at least 1 for what was handed over
};

RingSpec spec_for(const RingHandoffLoad& load) {
  RingSpec spec;
  spec.name = bench_name();
  spec.slot_count = load.slots;
  spec.slot_bytes = 4096;
  spec.groups = {{"consumer", 0}};
  return spec;
}

void pause_for(std::chrono::nanoseconds time) {
  const std::uint64_t end = monotonic_ns() + static_cast<std::uint64_t>(time.count());
  while (monotonic_ns() < end) {
  }
}

// Batches carry their number and the time of their publication, nothing else.
void produce(const Arena& arena) {
  const RingOwner owner(
      arena.files, spec_for(arena.load), [](const std::string&) {}, [] { return false; });
  arena.ring_made.open_for(arena.load.consumers);
  for (std::uint32_t i = 0; i < arena.load.consumers; ++i) arena.consumer_joined.pass();
  Janitor janitor(owner.ring(), kProducerId, {});
  FreeQueue queue(owner.ring(), janitor, arena.load.spin, owner.start().next_seq);
  arena.start_ns.values()[0] = monotonic_ns();
  for (std::uint64_t number = 0; number < arena.load.batches;) {
    auto filling = queue.wait_claim(kWait);
    if (!filling) continue;
    if (arena.load.pause.count() != 0) pause_for(arena.load.pause);
    write_descriptor(filling->bytes(), BatchNumber{number}, {}, {});
    filling->publish(0, monotonic_ns());
    ++number;
  }
  owner.set_finished();
}

void note_lease(const Arena& arena, const Lease& lease) {
  const std::uint64_t now = monotonic_ns();
  const std::uint64_t published_ns = read_stamps(lease.bytes()).published_ns;
  arena.latencies_ns.values()[value_of(read_batch_number(lease.bytes()))] =
      std::max<std::uint64_t>(1, now - published_ns);
}

void consume(const Arena& arena, ConsumerRecord& record) {
  arena.ring_made.pass();
  const AttachAnswer answer = attach_ring(arena.files, RingAccess::kConsumer);
  if (!answer.ring) throw std::runtime_error(answer.detail);
  const Ring& ring = *answer.ring;
  const auto participant = Participant::join(ring, kGroup);
  if (!participant) throw std::runtime_error("the ring has no place for one more consumer");
  Janitor janitor(ring, participant->id(), {});
  ReadyQueue queue(ring, kGroup, *participant, janitor, arena.load.spin);
  arena.consumer_joined.open_for(1);
  for (;;) {
    Lease lease;
    const LeaseOutcome outcome = queue.wait_lease(lease, kWait);
    if (outcome == LeaseOutcome::kFinished) return;
    if (outcome != LeaseOutcome::kLeased) continue;
    note_lease(arena, lease);
    lease.commit();
    ++record.batches;
    record.last_commit_ns = monotonic_ns();
  }
}

void check_each_once(const Arena& arena) {
  const auto latencies = arena.latencies_ns.values();
  const auto records = arena.consumers.values();
  const auto handed =
      std::accumulate(records.begin(), records.end(), std::uint64_t{0},
                      [](std::uint64_t sum, const ConsumerRecord& record) { return sum + record.batches; });
  if (handed == arena.load.batches && std::find(latencies.begin(), latencies.end(), 0) == latencies.end())
    return;
  throw BenchError("of " + std::to_string(arena.load.batches) + " batches " + std::to_string(handed) +
                       " were handed over, or some twice: the ring is broken, please report it",
                   kExitUnexpected);
}

RingHandoffFigures figures_of(const Arena& arena) {
  const auto latencies = arena.latencies_ns.values();
  std::uint64_t end_ns = 0;
  for (const ConsumerRecord& record : arena.consumers.values())
    end_ns = std::max(end_ns, record.last_commit_ns);
  const auto wall_ns = static_cast<double>(end_ns - arena.start_ns.values()[0]);
  return {{latencies.begin(), latencies.end()}, static_cast<double>(arena.load.batches) * 1e9 / wall_ns};
}

}  // namespace

RingHandoffFigures measure_ring_handoff(const RingHandoffLoad& load, const ChildSignals& signals) {
  const Arena arena(load);
  const RingRemover remover(arena.files);
  std::vector<ForkedProcess> processes;
  processes.emplace_back([&] { produce(arena); });
  for (std::uint32_t i = 0; i < load.consumers; ++i)
    processes.emplace_back([&, i] { consume(arena, arena.consumers.values()[i]); });
  wait_for_all(processes, signals);
  check_each_once(arena);
  return figures_of(arena);
}

double measure_lease_scan_ns(std::size_t slots) {
  std::vector<SlotProtocol::Word> producer(slots);
  std::vector<SlotProtocol::Word> group(slots);
  for (auto& word : producer) word = encode(ready_word(BatchSeq{7}));
  for (auto& word : group) word = encode(done_word(BatchSeq{7}));
  SlotProtocol protocol(producer, group);
  constexpr int kScans = 200'000;
  int found = 0;
  const std::uint64_t start = monotonic_ns();
  for (int i = 0; i < kScans; ++i)
    found += protocol.try_lease(kGroup, {ParticipantId{1}, 1}, LeaseFilter::kAny) ? 1 : 0;
  return found == 0 ? static_cast<double>(monotonic_ns() - start) / kScans : 0;
}

}  // namespace tailrace
