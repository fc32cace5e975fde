#include "ctl/stage_times.hpp"

#include <gtest/gtest.h>

#include "tests/ctl/made_report.hpp"

namespace tailrace {
namespace {

TEST(StageTimes, OfNothingAreZero) {
  const StageTimes none;
  EXPECT_EQ(none.count(), 0U);
  EXPECT_EQ(none.mean_s(), 0);
  EXPECT_EQ(none.quantile_s(0.5), 0);
}

TEST(StageTimes, HaveTheExactMean) { EXPECT_DOUBLE_EQ(testing::times(7, 3'000'000).mean_s(), 0.003); }

TEST(StageTimes, HaveQuantilesWithinAFactorOfTwo) {
  for (const std::uint64_t ns : {1ULL, 300ULL, 5'000ULL, 3'000'000ULL, 40'000'000'000ULL}) {
    const double seconds = static_cast<double>(ns) / 1e9;
    for (const double share : {0.01, 0.5, 0.99}) {
      const double found = testing::times(1000, ns).quantile_s(share);
      EXPECT_GE(found, ns < 256 ? 0 : seconds / 2) << ns;
      EXPECT_LE(found, ns < 256 ? 256e-9 : seconds * 2) << ns;
    }
  }
}

TEST(StageTimes, HaveQuantilesThatGrow) {
  StageTimes mixed = testing::times(90, 1'000'000);
  const StageTimes slow = testing::times(10, 1'000'000'000);
  for (std::size_t i = 0; i < mixed.buckets.size(); ++i) mixed.buckets[i] += slow.buckets[i];
  EXPECT_LT(mixed.quantile_s(0.5), 0.002);
  EXPECT_GT(mixed.quantile_s(0.95), 0.5);
}

TEST(StageTimes, BetweenTwoLooksAreWhatCameThen) {
  const StageTimes between = times_between(testing::times(3, 1000), testing::times(8, 1000));
  EXPECT_EQ(between.count(), 5U);
  EXPECT_EQ(between.sum_ns, 5000U);
}

TEST(StageTimes, OfAnotherRingAreNotComparedWith) {
  EXPECT_EQ(times_between(testing::times(8, 1000), testing::times(3, 1000)).count(), 0U);
  EXPECT_EQ(times_between(testing::times(1, 300), testing::times(1, 5000)).count(), 0U);
}

}  // namespace
}  // namespace tailrace
