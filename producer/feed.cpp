#include "producer/feed.hpp"

#include <spdlog/spdlog.h>

#include <array>
#include <utility>

#include "os/failpoint.hpp"
#include "producer/egress/naming_batch.hpp"
#include "producer/errors.hpp"
#include "producer/job.hpp"
#include "systemd/log_batch.hpp"

namespace tailrace {
namespace {

constexpr std::array kSkipCounters{Counter::kSkippedUnreadable, Counter::kSkippedUndecodable,
                                   Counter::kSkippedTooLarge};  // in the order of SkipKind

struct Totals {
  std::uint64_t valid_rows = 0;
  std::array<std::uint64_t, kSkipCounters.size()> skipped_rows{};
  std::uint64_t bytes = 0;
};

Totals totals_of(const OutputBatch& batch) {
  Totals totals;
  for (const Row& row : batch.rows)
    ++(row.valid() ? totals.valid_rows : totals.skipped_rows[static_cast<std::size_t>(row.skip_kind)]);
  for (const OutputTensor& tensor : batch.tensors) totals.bytes += tensor.span_bytes;
  return totals;
}

OutputBatch with_short_reasons(const InputBatch& input) {
  OutputBatch batch{input.number, input.rows, {}, {}};
  for (Row& row : batch.rows)
    if (row.skip_reason.size() > kMaxSkipReasonBytes) row.skip_reason.resize(kMaxSkipReasonBytes);
  return batch;
}

}  // namespace

Feed::Feed(UploadQueue& input, Model& model, ComputeClock& clock, EgressStrategy& egress,
           CounterBlock& counters, BatchNumber first, OnActivity on_activity)
    : input_(&input),
      model_(&model),
      clock_(&clock),
      egress_(&egress),
      counters_(&counters),
      next_(first),
      on_activity_(std::move(on_activity)) {}

void Feed::say_skipped(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    if (row.valid() || said_skipped_ > kMaxSaidSkipped) continue;
    if (++said_skipped_ > kMaxSaidSkipped)
      spdlog::warn("more items are skipped; they are not named here");
    else
      spdlog::warn("skipped item {}, {}: {}", row.item, row.name, row.skip_reason);
  }
}

const InputBatch* Feed::next_input() {
  const ScopedRange range(RangeKind::kGetBatch, next_);
  on_activity_(Activity::kInput);
  return input_->next();
}

std::vector<OutputTensor> Feed::compute(const InputBatch& batch) {
  const ScopedRange range(RangeKind::kCompute, batch.number);
  on_activity_(Activity::kCompute);
  const ModelInput input{batch.number, batch.rows.size(), input_->on_device()};
  failpoint("before_compute");
  clock_->start();  // behind the input's arrival: waiting for it is no work
  failpoint("mid_compute");
  auto outputs = model_->run(input);
  clock_->stop();
  return outputs;
}

void Feed::count_computed() {
  while (const auto duration = clock_->take()) {
    const auto ns = static_cast<std::uint64_t>(duration->count());
    counters_->record(Stage::kCompute, ns);
    counters_->add(Counter::kComputeNs, ns);
    if (clock_->caller_waits()) counters_->add(Counter::kStallComputeNs, ns);
  }
}

void Feed::drain() {
  egress_->drain();
  count_computed();
}

bool Feed::do_work() {
  try {
    return move_batch();
  } catch (const CudaError&) {
    // A failure shows wherever the device is asked next. Its batch is the oldest in flight, if there is one.
    egress_->drain();
    throw;
  }
}

bool Feed::move_batch() {
  const auto number = input_->first_from(next_);
  if (!number) return false;
  next_ = *number;
  BatchRange range(next_);
  const LogBatch about(next_);
  const InputBatch* input = next_input();
  if (input == nullptr) return false;
  next_ = next(next_);
  OutputBatch batch = with_short_reasons(*input);
  batch.range = std::move(range);
  batch.tensors = compute(*input);
  input_->finish();
  naming_batch(batch.number, [this] { count_computed(); });
  const Totals totals = totals_of(batch);
  const std::size_t rows = batch.rows.size();
  say_skipped(batch.rows);
  on_activity_(Activity::kSlot);
  if (!egress_->submit(std::move(batch))) return false;
  counters_->add(Counter::kBatches);
  counters_->add(Counter::kItems, totals.valid_rows);
  counters_->add(Counter::kSkippedItems, rows - totals.valid_rows);
  for (std::size_t kind = 0; kind < kSkipCounters.size(); ++kind)
    counters_->add(kSkipCounters[kind], totals.skipped_rows[kind]);
  counters_->add(Counter::kBytes, totals.bytes);
  return true;
}

}  // namespace tailrace
