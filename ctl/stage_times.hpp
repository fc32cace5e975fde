#pragma once

#include <array>
#include <cstdint>

#include "shm/counters.hpp"

namespace tailrace {

/// The values of a histogram at one moment, or of what came between two moments.
struct StageTimes {
  std::array<std::uint64_t, HistogramRecord::kBuckets> buckets{};
  std::uint64_t sum_ns = 0;

  [[nodiscard]] std::uint64_t count() const noexcept;
  /// 0 where nothing was recorded, as the quantiles.
  [[nodiscard]] double mean_s() const noexcept;
  /// `share`: 0…1. Buckets double, so the answer is right within a factor of 2, mostly much closer.
  [[nodiscard]] double quantile_s(double share) const noexcept;
};

using StageTable = std::array<StageTimes, kStageCount>;

StageTable read_stages(const CounterBlock& block) noexcept;

/// What came after `earlier`; nothing where the counts went back (another ring).
StageTimes times_between(const StageTimes& earlier, const StageTimes& later) noexcept;

inline const StageTimes& get(const StageTable& table, Stage stage) noexcept {
  return table[static_cast<std::size_t>(stage)];
}

}  // namespace tailrace
