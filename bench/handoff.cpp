// How long it takes from a publication to a lease in another process, and how many batches a second go from
// one producer to one consumer, on a ring of its own in /dev/shm.
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>

#include "shm/clock.hpp"
#include "shm/free_queue.hpp"
#include "shm/ready_queue.hpp"
#include "shm/ring_owner.hpp"

namespace tailrace {
namespace {

using std::chrono::nanoseconds;

constexpr std::chrono::milliseconds kWait{100};
constexpr GroupId kGroup{0};

struct Options {
  std::uint32_t slots = 64;
  std::uint64_t latency_batches = 20'000;
  std::uint64_t rate_batches = 500'000;
  nanoseconds pause{20'000};  // between the batches whose latency is measured, so that the consumer waits
};

struct HandoffFigures {
  double p50_ns = 0;
  double p99_ns = 0;
  double p999_ns = 0;
  double handovers_per_s = 0;
};

RingSpec spec_for(std::uint32_t slots) {
  RingSpec spec;
  spec.name = "bench-handoff-" + std::to_string(getpid());
  spec.slot_count = slots;
  spec.slot_bytes = 4096;
  spec.groups = {{"consumer", 0}};
  return spec;
}

void pause_for(nanoseconds time) {
  const std::uint64_t end = monotonic_ns() + static_cast<std::uint64_t>(time.count());
  while (monotonic_ns() < end) {
  }
}

// The producer's side. Batches carry the time of their publication and nothing else.
void produce(const RingOwner& owner, std::uint64_t count, nanoseconds pause, nanoseconds spin) {
  Janitor janitor(owner.ring(), kProducerId, {});
  FreeQueue queue(owner.ring(), janitor, spin, owner.start().next_seq);
  for (std::uint64_t number = 0; number < count;) {
    auto filling = queue.wait_claim(kWait);
    if (!filling) continue;
    if (pause.count() != 0) pause_for(pause);
    write_descriptor(filling->bytes(), BatchNumber{number}, {}, {});
    filling->publish(0, monotonic_ns());
    ++number;
  }
  owner.set_finished();
}

std::vector<std::uint64_t> consume(const RingFiles& files, nanoseconds spin) {
  AttachAnswer answer = attach_ring(files, RingAccess::kConsumer);
  if (!answer.ring) throw std::runtime_error(answer.detail);
  const Ring& ring = *answer.ring;
  const auto participant = Participant::join(ring, kGroup);
  Janitor janitor(ring, participant->id(), {});
  ReadyQueue queue(ring, kGroup, *participant, janitor, spin);
  std::vector<std::uint64_t> latencies_ns;
  for (;;) {
    Lease lease;
    const LeaseOutcome outcome = queue.wait_lease(lease, kWait);
    if (outcome == LeaseOutcome::kFinished) return latencies_ns;
    if (outcome != LeaseOutcome::kLeased) continue;
    latencies_ns.push_back(monotonic_ns() - read_stamps(lease.bytes()).published_ns);
    lease.commit();
  }
}

// The producer in a forked process, the consumer in this one.
std::vector<std::uint64_t> run(std::uint32_t slots, std::uint64_t count, nanoseconds pause,
                               nanoseconds spin) {
  const RingSpec spec = spec_for(slots);
  const RingFiles files(spec.name, RingFiles::kControlDirectory);
  std::array<int, 2> ready{};
  if (pipe(ready.data()) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  const pid_t producer = fork();
  if (producer == 0) {
    RingOwner owner(
        files, spec, [](const std::string&) {}, [] { return false; });
    const bool said = write(ready[1], "r", 1) == 1;
    if (said) produce(owner, count, pause, spin);
    _exit(said ? 0 : 1);
  }
  close(ready[1]);
  char byte = 0;
  const bool made = read(ready[0], &byte, 1) == 1;
  close(ready[0]);
  std::vector<std::uint64_t> latencies_ns;
  if (made) latencies_ns = consume(files, spin);
  waitpid(producer, nullptr, 0);
  clean_ring(files);
  if (!made) throw std::runtime_error("the producer could not make its ring");
  return latencies_ns;
}

double percentile(std::vector<std::uint64_t>& values, double share) {
  const auto index = static_cast<std::size_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(index), values.end());
  return static_cast<double>(values[index]);
}

HandoffFigures measure_handoff(const Options& options, nanoseconds spin) {
  auto latencies = run(options.slots, options.latency_batches, options.pause, spin);
  HandoffFigures figures;
  figures.p50_ns = percentile(latencies, 0.5);
  figures.p99_ns = percentile(latencies, 0.99);
  figures.p999_ns = percentile(latencies, 0.999);
  const std::uint64_t start = monotonic_ns();
  const auto handed = run(options.slots, options.rate_batches, nanoseconds(0), spin).size();
  figures.handovers_per_s = static_cast<double>(handed) * 1e9 / static_cast<double>(monotonic_ns() - start);
  return figures;
}

// One look at every word of a ring in which there is nothing to lease.
double measure_scan_ns(std::size_t slots) {
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

nlohmann::json json_of(const HandoffFigures& figures) {
  return {{"latency_ns", {{"p50", figures.p50_ns}, {"p99", figures.p99_ns}, {"p999", figures.p999_ns}}},
          {"handovers_per_s", figures.handovers_per_s}};
}

void print_table(const HandoffFigures& futex, const HandoffFigures& spin) {
  printf("%-12s %12s %12s %12s %14s\n", "wait", "p50 ns", "p99 ns", "p99.9 ns", "hand-overs/s");
  for (const auto& [name, f] : {std::pair{"futex", futex}, std::pair{"spin", spin}})
    printf("%-12s %12.0f %12.0f %12.0f %14.0f\n", name, f.p50_ns, f.p99_ns, f.p999_ns, f.handovers_per_s);
  printf("lease scan: 64 slots %.0f ns, 256 slots %.0f ns\n", measure_scan_ns(64), measure_scan_ns(256));
}

}  // namespace
}  // namespace tailrace

int main(int argc, char** argv) {
  tailrace::Options options;
  bool json = false;
  CLI::App app("Hand-over latency and rate between two processes.");
  app.add_option("--slots", options.slots, "slots of the ring")->capture_default_str();
  app.add_option("--latency-batches", options.latency_batches)
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--rate-batches", options.rate_batches)->check(CLI::PositiveNumber)->capture_default_str();
  app.add_flag("--json", json, "latency_ns.p50/p99/p999 and handovers_per_s, with the futex alone");
  CLI11_PARSE(app, argc, argv);
  try {
    const auto futex = tailrace::measure_handoff(options, std::chrono::nanoseconds(0));
    if (json)
      puts(tailrace::json_of(futex).dump().c_str());
    else
      tailrace::print_table(futex, tailrace::measure_handoff(options, std::chrono::microseconds(200)));
  } catch (const std::exception& error) {
    fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
