#include "producer/feed.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "producer/job.hpp"
#include "shm/clock.hpp"

namespace tailrace {
namespace {

struct Totals {
  std::uint64_t valid_rows = 0;
  std::uint64_t bytes = 0;
};

Totals totals_of(const OutputBatch& batch) {
  Totals totals;
  for (const Row& row : batch.rows) totals.valid_rows += row.valid() ? 1 : 0;
  for (const OutputTensor& tensor : batch.tensors) totals.bytes += tensor.span_bytes;
  return totals;
}

OutputBatch with_short_reasons(const InputBatch& input) {
  OutputBatch batch{input.number, input.rows, {}, {}};
  for (Row& row : batch.rows)
    if (row.skip_reason.size() > kMaxSkipReasonBytes) row.skip_reason.resize(kMaxSkipReasonBytes);
  return batch;
}

// A name may hold line breaks; a line of the log may not.
std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return text;
}

}  // namespace

Feed::Feed(InputPipeline& input, Model& model, EgressStrategy& egress, CounterBlock& counters,
           BatchNumber first)
    : input_(&input), model_(&model), egress_(&egress), counters_(&counters), next_(first) {}

void Feed::say_skipped(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    if (row.valid() || said_skipped_ > kMaxSaidSkipped) continue;
    if (++said_skipped_ > kMaxSaidSkipped)
      spdlog::warn("more items are skipped; they are not named here");
    else
      spdlog::warn("skipped item {}, {}: {}", row.item, one_line(row.name), one_line(row.skip_reason));
  }
}

const InputBatch* Feed::next_input() {
  const ScopedRange range(RangeKind::kGetBatch, next_);
  return input_->next();
}

bool Feed::do_work() {
  if (value_of(next_) >= input_->batch_count()) return false;
  BatchRange range(next_);
  const std::uint64_t start = monotonic_ns();
  const InputBatch* input = next_input();
  const std::uint64_t got = monotonic_ns();
  counters_->record(Stage::kInputWait, got - start);
  counters_->add(Counter::kStallInputNs, got - start);
  if (input == nullptr) return false;
  OutputBatch batch = with_short_reasons(*input);
  // Not `this`: a batch in flight may outlive the feed.
  batch.input = {input, [pipeline = input_](const InputBatch* held) { pipeline->release(*held); }};
  batch.range = std::move(range);
  next_ = next(next_);
  {
    const ScopedRange compute(RangeKind::kCompute, batch.number);
    batch.tensors = model_->run(*input);
  }
  const std::uint64_t computed = monotonic_ns();
  counters_->record(Stage::kCompute, computed - got);
  counters_->add(Counter::kComputeNs, computed - got);
  const Totals totals = totals_of(batch);
  const std::size_t rows = batch.rows.size();
  say_skipped(batch.rows);
  if (!egress_->submit(std::move(batch))) return false;
  counters_->add(Counter::kBatches);
  counters_->add(Counter::kItems, totals.valid_rows);
  counters_->add(Counter::kSkippedItems, rows - totals.valid_rows);
  counters_->add(Counter::kBytes, totals.bytes);
  return true;
}

}  // namespace tailrace
