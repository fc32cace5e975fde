// How fast the ledger takes and gives rows: `ledger_bench`. The files lie in the system's folder for
// temporary files (TMPDIR).
#include <benchmark/benchmark.h>
#include <sys/wait.h>
#include <unistd.h>

#include <numeric>
#include <string>
#include <vector>

#include "ledger/group_ledger.hpp"
#include "ledger/job_ledger.hpp"
#include "ledger/manifest.hpp"
#include "tests/sources/temp_folder.hpp"

namespace tailrace {
namespace {

/// A row as the sink png_mask gives it.
ItemRecord row_of(std::uint64_t item) {
  ItemRecord record;
  record.item = item;
  record.batch = item / 64;
  record.row = static_cast<std::uint32_t>(item % 64);
  record.files = {"/data/results/masks/folder/image-" + std::to_string(item) + ".png"};
  record.bytes = std::uint64_t{512} * 512;
  return record;
}

std::vector<ItemRecord> rows_of(std::uint64_t first, std::uint64_t count) {
  std::vector<ItemRecord> rows;
  for (std::uint64_t item = first; item < first + count; ++item) rows.push_back(row_of(item));
  return rows;
}

JobIdentity job_of(std::uint64_t count) {
  JobIdentity job;
  job.pipeline = "bench";
  job.items = {.position_count = count, .batch_size = 64};
  return job;
}

std::string name_at(std::uint64_t position) { return "folder/image-" + std::to_string(position) + ".jpg"; }

/// A batch's rows, one transaction.
void BM_Record(benchmark::State& state) {
  const TempFolder folder;
  GroupLedger ledger(Ledger::create(folder.path()), "masks");
  const auto count = static_cast<std::uint64_t>(state.range(0));
  std::uint64_t first = 0;
  for (auto _ : state) {
    ledger.record(rows_of(first, count));
    first += count;
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_Record)->Arg(1)->Arg(64)->Arg(1024)->UseRealTime()->Unit(benchmark::kMicrosecond);

/// Several processes that record one row at a time.
void BM_RecordFromProcesses(benchmark::State& state) {
  constexpr std::uint64_t kRows = 2000;
  for (auto _ : state) {
    const TempFolder folder;
    std::vector<pid_t> children;
    for (std::int64_t i = 0; i < state.range(0); ++i) {
      children.push_back(::fork());
      if (children.back() != 0) continue;
      GroupLedger ledger(Ledger::create(folder.path()), "masks");
      for (std::uint64_t row = 0; row < kRows; ++row)
        ledger.record(
            rows_of(row * static_cast<std::uint64_t>(state.range(0)) + static_cast<std::uint64_t>(i), 1));
      ::_exit(0);
    }
    for (const pid_t child : children) ::waitpid(child, nullptr, 0);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0) * static_cast<std::int64_t>(kRows));
}
BENCHMARK(BM_RecordFromProcesses)
    ->Arg(1)
    ->Arg(4)
    ->Iterations(3)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

/// What a consumer asks on every lease.
void BM_FinishedOfABatch(benchmark::State& state) {
  const TempFolder folder;
  GroupLedger ledger(Ledger::create(folder.path()), "masks");
  ledger.record(rows_of(0, 100'000));
  std::vector<std::uint64_t> items(64);
  std::iota(items.begin(), items.end(), std::uint64_t{50'000});
  for (auto _ : state) benchmark::DoNotOptimize(ledger.finished(items));
}
BENCHMARK(BM_FinishedOfABatch)->Unit(benchmark::kMicrosecond);

/// What a producer does at its start, with a million rows of one group.
class MillionRows : public benchmark::Fixture {
 public:
  static constexpr std::uint64_t kCount = 1'000'000;

  void SetUp(const benchmark::State&) override {
    (void)job().begin(job_of(kCount), name_at, false);
    GroupLedger ledger(Ledger::create(folder_.path()), "masks");
    for (std::uint64_t first = 0; first < kCount; first += 10'000) ledger.record(rows_of(first, 10'000));
  }
  JobLedger job() const { return JobLedger(Ledger::create(folder_.path())); }
  const TempFolder& folder() const { return folder_; }

 private:
  TempFolder folder_;
};

BENCHMARK_DEFINE_F(MillionRows, Finished)(benchmark::State& state) {
  const std::vector<std::string> groups{"masks"};
  JobLedger ledger = job();
  for (auto _ : state) benchmark::DoNotOptimize(ledger.finished(groups));
}
BENCHMARK_REGISTER_F(MillionRows, Finished)->Unit(benchmark::kMillisecond);

BENCHMARK_DEFINE_F(MillionRows, Totals)(benchmark::State& state) {
  const std::vector<std::string> groups{"masks"};
  JobLedger ledger = job();
  for (auto _ : state) benchmark::DoNotOptimize(ledger.totals(groups));
}
BENCHMARK_REGISTER_F(MillionRows, Totals)->Unit(benchmark::kMillisecond);

BENCHMARK_DEFINE_F(MillionRows, Manifest)(benchmark::State& state) {
  const std::vector<std::string> groups{"masks"};
  Ledger ledger = Ledger::create(folder().path());
  for (auto _ : state) write_manifest(ledger, folder().path(), groups);
}
BENCHMARK_REGISTER_F(MillionRows, Manifest)->Iterations(1)->Unit(benchmark::kMillisecond);

/// One item came at the front of the list.
BENCHMARK_DEFINE_F(MillionRows, AcceptedListChange)(benchmark::State& state) {
  JobIdentity changed = job_of(kCount + 1);
  changed.list_digest = 1;
  for (auto _ : state)
    (void)job().begin(
        changed, [](std::uint64_t position) { return position == 0 ? "a.jpg" : name_at(position - 1); },
        true);
}
BENCHMARK_REGISTER_F(MillionRows, AcceptedListChange)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tailrace

BENCHMARK_MAIN();
