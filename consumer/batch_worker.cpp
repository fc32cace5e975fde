#include "consumer/batch_worker.hpp"

#include <spdlog/spdlog.h>

#include <chrono>
#include <thread>
#include <utility>

#include "shm/clock.hpp"

namespace tailrace {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstPause{100};
constexpr milliseconds kLongestPause{5000};
constexpr milliseconds kPatience{30'000};  // with a full disk, before the consumer gives up (exit 74)
constexpr milliseconds kStopCheck{50};

std::uint64_t bytes_of(const std::vector<ItemResult>& results) {
  std::uint64_t bytes = 0;
  for (const ItemResult& result : results) bytes += result.bytes;
  return bytes;
}

void pause(milliseconds length, const BatchWorker::ShouldStop& should_stop) {
  for (milliseconds slept{0}; slept < length && !should_stop(); slept += kStopCheck)
    std::this_thread::sleep_for(kStopCheck);
}

}  // namespace

BatchWorker::BatchWorker(const Ring& ring, GroupId group, const Participant& participant, Sink& sink,
                         const DeadLetters& dead_letters, ChecksumFile& checksums, ShouldStop should_stop)
    : ring_(&ring),
      group_(group),
      participant_(&participant),
      sink_(&sink),
      dead_letters_(&dead_letters),
      checksums_(&checksums),
      should_stop_(std::move(should_stop)) {}

BatchOutcome BatchWorker::process(Lease lease) {
  participant_->record().progress.fetch_add(1, std::memory_order_relaxed);
  if (lease.is_quarantine()) return quarantine(std::move(lease));
  const std::uint32_t attempts = lease.attempts();
  const auto number = value_of(read_batch_number(lease.bytes()));
  try {
    return process_with_sink(std::move(lease));
  } catch (const DamagedDescriptor&) {
    throw;
  } catch (const std::exception& error) {
    spdlog::error("batch {} failed (attempt {}): {}", number, attempts, error.what());
    pause(kFirstPause * attempts, should_stop_);  // the lease has gone home already, its attempt counted
    return BatchOutcome::kFailed;
  }
}

BatchOutcome BatchWorker::process_with_sink(Lease lease) {
  const BatchView batch = read_descriptor(lease.bytes());
  const StageStamps stamps = read_stamps(lease.bytes());
  CounterBlock& counters = ring_->group_counters(group_);
  const std::uint64_t start = monotonic_ns();
  counters.record(Stage::kLeaseWait, start - stamps.published_ns);
  std::vector<ItemResult> results;
  if (!retry_io([&] { results = sink_->process(batch); }) ||
      !retry_io([&] { checksums_->append(results); })) {
    lease.give_back();
    return BatchOutcome::kGivenBack;
  }
  counters.record(Stage::kSink, monotonic_ns() - start);
  if (!commit(lease, stamps, results.size(), bytes_of(results)))
    spdlog::warn("batch {} had been taken away before it was committed", value_of(batch.number));
  else
    counters.add(Counter::kSkippedItems, batch.rows.size() - results.size());
  return BatchOutcome::kCommitted;
}

BatchOutcome BatchWorker::quarantine(Lease lease) {
  const StageStamps stamps = read_stamps(lease.bytes());
  const auto number = value_of(read_batch_number(lease.bytes()));
  std::string folder;
  if (!retry_io([&] { folder = dead_letters_->save(lease); })) {
    lease.give_back();
    return BatchOutcome::kGivenBack;
  }
  spdlog::error("batch {} is set aside in {}: {} consumers died or failed with it", number, folder,
                lease.attempts() - 1);
  if (commit(lease, stamps, 0, 0)) ring_->group_counters(group_).add(Counter::kQuarantined);
  return BatchOutcome::kCommitted;
}

bool BatchWorker::commit(Lease& lease, const StageStamps& stamps, std::uint64_t items, std::uint64_t bytes) {
  if (!lease.commit()) return false;
  CounterBlock& counters = ring_->group_counters(group_);
  counters.add(Counter::kBatches);
  counters.add(Counter::kItems, items);
  counters.add(Counter::kBytes, bytes);
  counters.record(Stage::kRoundTrip, monotonic_ns() - stamps.claimed_ns);
  ParticipantRecord& record = participant_->record();
  record.batches.fetch_add(1, std::memory_order_relaxed);
  record.items.fetch_add(items, std::memory_order_relaxed);
  record.bytes.fetch_add(bytes, std::memory_order_relaxed);
  return true;
}

bool BatchWorker::retry_io(const std::function<void()>& work) {
  milliseconds waited{0};
  for (milliseconds length = kFirstPause;; length = std::min(2 * length, kLongestPause)) {
    try {
      work();
      return true;
    } catch (const SinkIoError& error) {
      if (should_stop_() || waited >= kPatience) {
        spdlog::error("{}; the batch is given back", error.what());
        return false;
      }
      spdlog::warn("{}; trying again in {} ms", error.what(), length.count());
    }
    pause(length, should_stop_);
    waited += length;
  }
}

}  // namespace tailrace
