#include "ctl/bench/path_handoff.hpp"

#include <fcntl.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "config/exit_codes.hpp"
#include "ctl/bench/bench_error.hpp"
#include "ctl/bench/default_pipelines.hpp"
#include "ctl/bench/forked_process.hpp"
#include "ctl/bench/guarded_child.hpp"
#include "ctl/bench/measured_run.hpp"
#include "ctl/bench/program_output.hpp"
#include "ctl/bench/ring_remover.hpp"
#include "ctl/bench/run_report.hpp"
#include "ctl/bench/shared_array.hpp"
#include "ctl/bench/temporary_folder.hpp"
#include "ledger/group_ledger.hpp"
#include "os/clock.hpp"
#include "shm/descriptor.hpp"
#include "shm/ready_queue.hpp"

namespace tailrace {
namespace {

constexpr const char* kProducer = "tailrace-producer";
constexpr std::chrono::milliseconds kWait{100};
constexpr std::chrono::milliseconds kRound{200};
constexpr std::chrono::milliseconds kAttachRound{5};
constexpr std::uint64_t kWarmupBatches = 200;  // caches, clocks of the device, pages
constexpr GroupId kGroup{0};

struct PathLatencies {
  explicit PathLatencies(std::size_t batches) : submit_ns(batches), noticed_ns(batches) {}

  SharedArray<std::uint64_t> submit_ns;  // at least 1 for a batch that was handed over
  SharedArray<std::uint64_t> noticed_ns;
};

Child producer_of(const PathLoad& load, const TemporaryFolder& folder, int nowhere) {
  const auto config = folder.file("handoff.toml");
  std::ofstream(config) << handoff_pipeline();
  const std::string spin = std::to_string(load.spin.count()) + " us";
  std::vector<std::string> command{find_sibling(kProducer), "--config=" + config.string()};
  for (const std::string& value :
       {"pipeline.name=" + bench_name(), "pipeline.state=" + folder.file("state").string(),
        "pipeline.device=" + load.device, "ring.spin=" + spin, "egress.spin=" + spin,
        "egress.strategy=" + std::string("streams"),
        "source.items=" + std::to_string(kWarmupBatches + load.batches),
        "profile.report=" + folder.file("report.json").string(), std::string("log.level=warning")})
    command.push_back("--set=" + value);
  return {kProducer, std::move(command), -1, nowhere};
}

Ring wait_for_ring(const RingFiles& files) {
  for (;;) {
    AttachAnswer answer = attach_ring(files, RingAccess::kConsumer);
    if (answer.state == AttachState::kReady) return std::move(*answer.ring);
    if (answer.state != AttachState::kAbsent && answer.state != AttachState::kInitialising)
      throw std::runtime_error("the producer's ring cannot be used: " + answer.detail);
    std::this_thread::sleep_for(kAttachRound);
  }
}

// The producer compares the ledger with its job. All rows are written at once, beside what is measured.
void record_all(const Ring& ring, const std::string& state) {
  const ItemMap& items = ring.geometry().items;
  std::vector<ItemRecord> records(items.position_count);
  for (std::uint64_t position = 0; position < records.size(); ++position) {
    records[position].item = items.item(position);
    records[position].batch = position / items.batch_size;
  }
  GroupLedger(Ledger::open(state), ring.geometry().groups[index_of(kGroup)].name).record(records);
}

void consume(const RingFiles& files, const std::string& state, std::chrono::nanoseconds spin,
             const PathLatencies& latencies) {
  const Ring ring = wait_for_ring(files);
  const auto participant = Participant::join(ring, kGroup);
  if (!participant) throw std::runtime_error("the ring has no place for a consumer");
  Janitor janitor(ring, participant->id(), {});
  ReadyQueue queue(ring, kGroup, *participant, janitor, spin);
  for (;;) {
    Lease lease;
    const LeaseOutcome outcome = queue.wait_lease(lease, kWait);
    const std::uint64_t now = monotonic_ns();
    if (outcome == LeaseOutcome::kFinished) return;
    if (outcome == LeaseOutcome::kRetired) throw std::runtime_error("the producer replaced its ring");
    if (outcome != LeaseOutcome::kLeased) continue;
    const StageStamps stamps = read_stamps(lease.bytes());
    const std::uint64_t number = value_of(read_batch_number(lease.bytes()));
    if (number >= kWarmupBatches) {
      latencies.submit_ns.values()[number - kWarmupBatches] =
          std::max<std::uint64_t>(1, now - stamps.claimed_ns);
      latencies.noticed_ns.values()[number - kWarmupBatches] = now - stamps.copied_ns;
    }
    if (number + 1 == ring.geometry().items.batch_count()) record_all(ring, state);
    lease.commit();
  }
}

void wait_for_both(GuardedChild& producer, ForkedProcess& consumer, const ChildSignals& signals) {
  for (;;) {
    const auto producer_code = producer.try_end();
    if (producer_code.value_or(kExitDone) != kExitDone)
      throw BenchError("the producer of the whole path ended with exit code " +
                           std::to_string(*producer_code) + "; what it said is above",
                       *producer_code);
    const auto consumer_code = consumer.try_end();
    if (consumer_code.value_or(kExitDone) != kExitDone)
      throw BenchError("the consumer of the whole path failed", *consumer_code);
    if (producer_code && consumer_code) return;
    signals.wait_or_throw(kRound);
  }
}

void check_complete(const PathLatencies& latencies) {
  const auto values = latencies.submit_ns.values();
  if (std::find(values.begin(), values.end(), 0) == values.end()) return;
  throw BenchError("the producer of the whole path ended before every batch was handed over",
                   kExitUnexpected);
}

}  // namespace

bool has_producer_program() {
  const std::string program = find_sibling(kProducer);
  return program != kProducer || !find_program(kProducer).empty();
}

PathFigures measure_path_handoff(const PathLoad& load, const ChildSignals& signals) {
  const TemporaryFolder folder;
  const RingFiles files(bench_name(), RingFiles::kControlDirectory);
  const RingRemover remover(files);
  const PathLatencies latencies(load.batches);
  const UniqueFd nowhere(open("/dev/null", O_WRONLY | O_CLOEXEC));
  GuardedChild producer(producer_of(load, folder, nowhere.get()));
  ForkedProcess consumer([&] { consume(files, folder.file("state").string(), load.spin, latencies); });
  wait_for_both(producer, consumer, signals);
  check_complete(latencies);
  return {read_run_report(folder.file("report.json")).device, latency_figures(latencies.submit_ns.values()),
          latency_figures(latencies.noticed_ns.values())};
}

}  // namespace tailrace
