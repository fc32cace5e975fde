#include "consumer/sinks/recording_sink.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "os/failpoint.hpp"

namespace tailrace {
namespace {

std::vector<std::uint64_t> items_of(const BatchView& batch) {
  std::vector<std::uint64_t> items;
  items.reserve(batch.rows.size());
  for (const Row& row : batch.rows) items.push_back(row.item);
  return items;
}

bool all_of(const std::vector<bool>& flags) {
  return std::find(flags.begin(), flags.end(), false) == flags.end();
}

ItemRecord record_of(std::uint64_t item, ItemState state, BatchNumber batch, std::uint32_t row,
                     std::uint32_t attempts) {
  ItemRecord record;
  record.item = item;
  record.state = state;
  record.batch = value_of(batch);
  record.row = row;
  record.attempts = attempts;
  return record;
}

std::vector<ItemRecord> skipped_rows(const BatchView& batch, std::uint32_t attempts) {
  std::vector<ItemRecord> records;
  for (std::uint32_t r = 0; r < batch.rows.size(); ++r)
    if (!batch.rows[r].valid()) {
      records.push_back(record_of(batch.rows[r].item, ItemState::kSkipped, batch.number, r, attempts));
      records.back().reason = batch.rows[r].skip_reason;
    }
  return records;
}

// A sink passes over rows that are not valid.
BatchView without(BatchView batch, const std::vector<bool>& finished) {
  for (std::size_t r = 0; r < batch.rows.size(); ++r)
    if (finished[r]) batch.rows[r].skip_reason = "finished before";
  return batch;
}

BatchView only(BatchView batch, std::uint32_t row) {
  for (std::size_t r = 0; r < batch.rows.size(); ++r)
    if (r != row) batch.rows[r].skip_reason = "not now";
  return batch;
}

ItemRecord record_of(ItemResult result, const BatchView& batch, std::uint32_t row, std::uint32_t attempts) {
  ItemRecord record = record_of(result.item, ItemState::kDone, batch.number, row, attempts);
  record.files = std::move(result.files);
  record.bytes = result.bytes;
  record.checksum = result.checksum;
  return record;
}

}  // namespace

RecordingSink::Outcome RecordingSink::process(const BatchView& batch, std::uint32_t attempts) {
  const std::vector<bool> finished = ledger_.finished(items_of(batch));
  std::vector<ItemRecord> records = skipped_rows(batch, attempts);
  Outcome outcome{.items = batch.rows.size() - records.size(), .skipped = records.size()};
  outcome.found_done = all_of(finished);
  if (outcome.found_done) return outcome;
  const bool partly = std::find(finished.begin(), finished.end(), true) != finished.end();
  std::vector<ItemResult> results = partly ? sink_->process(without(batch, finished)) : sink_->process(batch);
  std::uint32_t row = 0;
  for (ItemResult& result : results) {
    while (row < batch.rows.size() && batch.rows[row].item != result.item) ++row;
    if (row == batch.rows.size()) throw std::logic_error("a sink's results are not in the order of the rows");
    outcome.bytes += result.bytes;
    records.push_back(record_of(std::move(result), batch, row, attempts));
  }
  failpoint("after_file");
  ledger_.record(records);
  failpoint("after_ledger");
  return outcome;
}

RecordingSink::Outcome RecordingSink::process_singly(const BatchView& batch, std::uint32_t attempts,
                                                     const Singly& calls) {
  const std::vector<bool> finished = ledger_.finished(items_of(batch));
  const std::vector<ItemRecord> skipped = skipped_rows(batch, attempts);
  ledger_.record(skipped);
  Outcome outcome{.skipped = skipped.size()};
  for (std::uint32_t row = 0; row < batch.rows.size(); ++row) {
    if (!batch.rows[row].valid()) continue;
    if (finished[row])
      ++outcome.items;
    else
      process_alone(batch, row, attempts, calls, outcome);
  }
  return outcome;
}

void RecordingSink::process_alone(const BatchView& batch, std::uint32_t row, std::uint32_t attempts,
                                  const Singly& calls, Outcome& outcome) {
  const std::uint64_t item = batch.rows[row].item;
  const auto give_up = [&](const std::string& reason) {
    ItemRecord record = record_of(item, ItemState::kSetAside, batch.number, row, attempts);
    record.files = calls.set_aside(batch.rows[row], reason);
    record.reason = reason;
    ledger_.record({&record, 1});
    ++outcome.set_aside;
  };
  const std::uint32_t trial = ledger_.begin_trial(item);
  calls.on_begun();
  if (trial > kMaxTrials) return give_up(std::to_string(trial - 1) + " consumers died with it alone");
  try {
    std::vector<ItemResult> results = sink_->process(only(batch, row));
    for (ItemResult& result : results) {
      outcome.bytes += result.bytes;
      const ItemRecord record = record_of(std::move(result), batch, row, attempts);
      ledger_.record({&record, 1});
    }
    ++outcome.items;
  } catch (const FileError&) {
    ledger_.end_trial(item);
    throw;  // the outside's fault
  } catch (const std::exception& error) {
    give_up(error.what());
  }
  ledger_.end_trial(item);
}

bool RecordingSink::has_all(std::span<const std::uint64_t> items) { return all_of(ledger_.finished(items)); }

void RecordingSink::set_aside(BatchNumber batch, std::span<const std::uint64_t> items, std::uint32_t attempts,
                              const std::vector<std::string>& files, const std::string& reason) {
  std::vector<ItemRecord> records;
  for (std::uint32_t r = 0; r < items.size(); ++r) {
    records.push_back(record_of(items[r], ItemState::kSetAside, batch, r, attempts));
    records.back().files = files;
    records.back().reason = reason;
  }
  ledger_.record(records);
}

}  // namespace tailrace
