#include "ctl/stage_times.hpp"

#include <cmath>
#include <numeric>

namespace tailrace {
namespace {

StageTimes read(const HistogramRecord& histogram) noexcept {
  StageTimes times;
  for (std::size_t i = 0; i < times.buckets.size(); ++i)
    times.buckets[i] = histogram.buckets[i].load(std::memory_order_relaxed);
  times.sum_ns = histogram.sum_ns.load(std::memory_order_relaxed);
  return times;
}

// `inside`: 0…1, how far into the bucket; each is as long as all before it.
double bucket_s(std::size_t bucket, double inside) noexcept {
  const double end_ns = std::ldexp(1.0, static_cast<int>(bucket) + HistogramRecord::kFirstBits);
  return (bucket == 0 ? end_ns * inside : end_ns / 2 * std::exp2(inside)) / 1e9;
}

}  // namespace

std::uint64_t StageTimes::count() const noexcept {
  return std::accumulate(buckets.begin(), buckets.end(), std::uint64_t{0});
}

double StageTimes::mean_s() const noexcept {
  const std::uint64_t all = count();
  return all == 0 ? 0 : static_cast<double>(sum_ns) / 1e9 / static_cast<double>(all);
}

double StageTimes::quantile_s(double share) const noexcept {
  const double wanted = share * static_cast<double>(count());
  double before = 0;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    const auto here = static_cast<double>(buckets[i]);
    if (here > 0 && before + here >= wanted) return bucket_s(i, (wanted - before) / here);
    before += here;
  }
  return 0;
}

StageTable read_stages(const CounterBlock& block) noexcept {
  StageTable table;
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = read(block.stages[i]);
  return table;
}

StageTimes times_between(const StageTimes& earlier, const StageTimes& later) noexcept {
  StageTimes between;
  if (later.sum_ns < earlier.sum_ns) return between;
  for (std::size_t i = 0; i < between.buckets.size(); ++i) {
    if (later.buckets[i] < earlier.buckets[i]) return {};
    between.buckets[i] = later.buckets[i] - earlier.buckets[i];
  }
  between.sum_ns = later.sum_ns - earlier.sum_ns;
  return between;
}

}  // namespace tailrace
