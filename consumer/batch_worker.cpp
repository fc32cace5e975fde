#include "consumer/batch_worker.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include "files/storage_time.hpp"
#include "os/clock.hpp"
#include "systemd/log_batch.hpp"

namespace tailrace {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstPause{100};
constexpr milliseconds kLongestPause{5000};
constexpr milliseconds kPatience{30'000};  // with a full disk, before the consumer gives up (exit 74)
constexpr milliseconds kStopCheck{50};

/// Counts how long a consumer is at a batch, whatever comes of it.
class TimeAtBatch {
 public:
  explicit TimeAtBatch(CounterBlock& counters) : counters_(counters) {}
  TimeAtBatch(const TimeAtBatch&) = delete;
  TimeAtBatch& operator=(const TimeAtBatch&) = delete;
  ~TimeAtBatch() { counters_.record(Stage::kSink, monotonic_ns() - start_ns_); }

 private:
  CounterBlock& counters_;
  const std::uint64_t start_ns_ = monotonic_ns();
};

}  // namespace

BatchWorker::BatchWorker(const Ring& ring, GroupId group, const Participant& participant, RecordingSink& sink,
                         const DeadLetters& dead_letters, bool isolate, Service& service)
    : ring_(&ring),
      group_(group),
      participant_(&participant),
      sink_(&sink),
      dead_letters_(&dead_letters),
      isolate_(isolate),
      service_(&service),
      counted_storage_ns_(storage_ns()) {}

void BatchWorker::note_begun() const {
  participant_->record().progress.fetch_add(1, std::memory_order_relaxed);
  service_->life.turn();
}

BatchOutcome BatchWorker::process(Lease lease) {
  note_begun();
  const BatchNumber number = read_batch_number(lease.bytes());
  const LogBatch about(number);
  if (lease.is_quarantine()) return quarantine(lease);
  const std::uint32_t attempts = lease.attempts();
  try {
    return process_with_sink(lease);
  } catch (const DamagedDescriptor&) {
    throw;
  } catch (const std::exception& error) {
    spdlog::error("batch {} failed (attempt {}): {}", value_of(number), attempts, error.what());
    dead_letters_->note_failure(number, attempts, error.what());
  }
  lease = Lease();  // goes home, its attempt counted
  participant_->enter(Activity::kWaiting);
  pause(kFirstPause * attempts);
  return BatchOutcome::kFailed;
}

BatchOutcome BatchWorker::process_with_sink(Lease& lease) {
  const BatchView batch = read_descriptor(lease.bytes());
  CounterBlock& counters = ring_->group_counters(group_);
  counters.record(Stage::kLeaseWait, monotonic_ns() - read_stamps(lease.bytes()).published_ns);
  RecordingSink::Outcome outcome;
  if (!work_at(Activity::kSink, [&] { outcome = sink_->process(batch, lease.attempts()); })) {
    lease.give_back();
    return BatchOutcome::kGivenBack;
  }
  if (outcome.found_done)
    spdlog::info("batch {} was done before; it is not done again", value_of(batch.number));
  commit(lease, batch.number, outcome);
  return BatchOutcome::kCommitted;
}

BatchOutcome BatchWorker::quarantine(Lease& lease) {
  const BatchNumber number = read_batch_number(lease.bytes());
  const auto items = ring_->geometry().items.items_of(number);
  RecordingSink::Outcome outcome;
  const bool ended = work_at(Activity::kQuarantine, [&] {
    if (sink_->has_all(items))  // they died between the ledger and the slot
      outcome = {.items = items.size(), .found_done = true};
    else
      outcome = isolate_ ? do_singly(lease) : set_aside(lease, number, items);
  });
  if (!ended) {
    lease.give_back();
    return BatchOutcome::kGivenBack;
  }
  if (outcome.set_aside != 0) ring_->group_counters(group_).add(Counter::kQuarantined);
  commit(lease, number, outcome);
  return BatchOutcome::kCommitted;
}

RecordingSink::Outcome BatchWorker::set_aside(const Lease& lease, BatchNumber number,
                                              const std::vector<std::uint64_t>& items) {
  const std::string reason =
      std::to_string(lease.attempts() - 1) + " attempts failed, or killed their consumer";
  const DeadLetter letter = dead_letters_->save(lease, reason);
  sink_->set_aside(number, items, lease.attempts() - 1, letter.files, reason);
  spdlog::error("batch {} ({} items from item {}) is set aside in {}: {}", value_of(number), items.size(),
                items.empty() ? 0 : items.front(), letter.folder, reason);
  return {.set_aside = items.size()};
}

RecordingSink::Outcome BatchWorker::do_singly(const Lease& lease) {
  const BatchView batch = read_descriptor(lease.bytes());
  spdlog::warn("batch {} is done item by item: {} attempts failed, or killed their consumer",
               value_of(batch.number), lease.attempts() - 1);
  const auto set_aside = [&](const Row& row, const std::string& reason) {
    const DeadLetter letter = dead_letters_->save_item(lease, row, reason);
    spdlog::error("item {} is set aside in {}: {}", row.item, letter.folder, reason);
    return letter.files;
  };
  return sink_->process_singly(batch, lease.attempts(), {[this] { note_begun(); }, set_aside});
}

void BatchWorker::commit(Lease& lease, BatchNumber number, const RecordingSink::Outcome& outcome) {
  const StageStamps stamps = read_stamps(lease.bytes());
  if (!lease.commit()) {
    spdlog::warn("batch {} had been taken away before it was committed", value_of(number));
    return;
  }
  CounterBlock& counters = ring_->group_counters(group_);
  counters.add(Counter::kBatches);
  counters.add(Counter::kItems, outcome.items);
  counters.add(Counter::kSkippedItems, outcome.skipped);
  counters.add(Counter::kBytes, outcome.bytes);
  counters.record(Stage::kRoundTrip, monotonic_ns() - stamps.claimed_ns);
  ParticipantRecord& record = participant_->record();
  record.batches.fetch_add(1, std::memory_order_relaxed);
  record.items.fetch_add(outcome.items, std::memory_order_relaxed);
  record.bytes.fetch_add(outcome.bytes, std::memory_order_relaxed);
}

bool BatchWorker::work_at(Activity activity, const std::function<void()>& work) {
  const TimeAtBatch time(ring_->group_counters(group_));
  participant_->enter(activity);
  return retry_io(work);
}

bool BatchWorker::retry_io(const std::function<void()>& work) {
  milliseconds waited{0};
  for (milliseconds length = kFirstPause;; length = std::min(2 * length, kLongestPause)) {
    const auto refusal = refusal_of(work);
    count_storage();
    if (!refusal) return true;
    if (!refusal->may_pass || stopping() || waited >= kPatience) {
      spdlog::error("{}; the batch is given back", refusal->text);
      return false;
    }
    spdlog::warn("{}; trying again in {} ms", refusal->text, length.count());
    participant_->enter(Activity::kRetrying);
    {
      const StorageWait wait;
      pause(length);
    }
    count_storage();
    waited += length;
  }
}

std::optional<BatchWorker::Refusal> BatchWorker::refusal_of(const std::function<void()>& work) const {
  const Lifesign::Allowance allowance(service_->life, service_->config.progress_limit());
  try {
    work();
  } catch (const LedgerLost& error) {
    return Refusal{error.what(), false};
  } catch (const FileError& error) {
    return Refusal{error.what(), true};
  }
  return std::nullopt;
}

void BatchWorker::pause(milliseconds length) const {
  for (milliseconds slept{0}; slept < length && !stopping(); slept += kStopCheck) {
    std::this_thread::sleep_for(kStopCheck);
    service_->life.turn();
  }
}

void BatchWorker::count_storage() {
  const std::uint64_t now_ns = storage_ns();
  ring_->group_counters(group_).add(Counter::kStallDiskNs, now_ns - counted_storage_ns_);
  counted_storage_ns_ = now_ns;
}

}  // namespace tailrace
