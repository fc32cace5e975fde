#include "ctl/ring_rates.hpp"

#include <gtest/gtest.h>

#include "tests/ctl/made_report.hpp"

namespace tailrace {
namespace {

using testing::report;
using testing::set;
using testing::times;

constexpr std::uint64_t kSecond = 1'000'000'000;

TEST(RingRates, AreDifferencesOverTheTimeBetween) {
  RingReport earlier = report(100);
  RingReport later = report(102);
  set(later.counters, Counter::kBatches, 30);
  set(later.counters, Counter::kBytes, 4000);
  set(later.counters, Counter::kComputeNs, kSecond);
  set(later.groups[0].counters, Counter::kItems, 80);
  earlier.producer->activity = later.producer->activity = name_of(Activity::kSlot);
  const auto rates = rates_between(earlier, later);
  ASSERT_TRUE(rates);
  EXPECT_DOUBLE_EQ(rates->interval_s, 2);
  EXPECT_DOUBLE_EQ(rates->producer.batches_per_s, 10);
  EXPECT_DOUBLE_EQ(rates->producer.bytes_per_s, 2000);
  EXPECT_DOUBLE_EQ(rates->producer.device_busy, 0.5);
  EXPECT_DOUBLE_EQ(rates->groups.at(0).items_per_s, 40);
}

TEST(RingRates, AreNotTakenAcrossRings) {
  RingReport other = report(102);
  other.epoch = 1;
  EXPECT_FALSE(rates_between(report(100), other));
  EXPECT_FALSE(rates_between(report(100), report(100))) << "no time between";
  EXPECT_FALSE(rates_between(RingReport{}, report(100)));
}

TEST(RingRates, CountAWaitThatLastsAtBothLooks) {
  RingReport earlier = report(100);
  RingReport later = report(102);
  earlier.producer = testing::process(0, 77, Activity::kInput, 5);
  later.producer = testing::process(0, 77, Activity::kInput, 7);
  EXPECT_DOUBLE_EQ(rates_between(earlier, later)->producer.input_share, 1);
}

TEST(RingRates, CountAWaitThatEndedBetweenOnce) {
  RingReport earlier = report(100);
  RingReport later = report(102);
  earlier.producer = testing::process(0, 77, Activity::kInput, 5);
  later.producer = testing::process(0, 77, Activity::kSlot, 1);
  set(later.counters, Counter::kStallInputNs, 6 * kSecond);  // counted at its end
  EXPECT_DOUBLE_EQ(rates_between(earlier, later)->producer.input_share, 0.5);
}

TEST(RingRates, ShareAGroupsTimeAmongItsConsumers) {
  RingReport earlier = report(100);
  RingReport later = report(102);
  for (RingReport* ring : {&earlier, &later}) ring->consumers.push_back(testing::consumer(2, "masks"));
  set(later.groups[0].stages, Stage::kSink, times(10, kSecond / 5));
  set(later.groups[0].counters, Counter::kStallDiskNs, kSecond);
  const auto rates = rates_between(earlier, later);
  EXPECT_EQ(rates->groups[0].consumers, 2U);
  EXPECT_DOUBLE_EQ(rates->groups[0].busy, 0.5);
  EXPECT_DOUBLE_EQ(rates->groups[0].disk_share, 0.25);
  EXPECT_DOUBLE_EQ(rates->groups[0].sink_s, 0.2);
}

TEST(RingRates, CountAConsumerThatIsAtOneBatchAllTheTime) {
  RingReport earlier = report(100);
  RingReport later = report(102);
  earlier.consumers[0] = testing::consumer(1, "masks", Activity::kSink, 30);
  later.consumers[0] = testing::consumer(1, "masks", Activity::kSink, 32);
  EXPECT_DOUBLE_EQ(rates_between(earlier, later)->groups[0].busy, 1);
}

TEST(RingRates, LeaveTheDeadOut) {
  RingReport later = report(102);
  later.consumers[0].alive = false;
  EXPECT_EQ(rates_between(report(100), later)->groups[0].consumers, 0U);
}

TEST(RingRates, TakeTimesOfOneBatchFromBeforeWhereNoneEnded) {
  RingReport earlier = report(100);
  RingReport later = report(102);
  for (RingReport* ring : {&earlier, &later}) set(ring->stages, Stage::kCompute, times(4, kSecond));
  EXPECT_DOUBLE_EQ(rates_between(earlier, later)->producer.compute_s, 1);
}

TEST(RingRates, OfAConsumerAreNotThoseOfItsPredecessor) {
  RingReport later = report(102);
  later.consumers[0].pid = 555;
  EXPECT_TRUE(rates_between(report(100), later)->consumers.empty());
}

TEST(Remaining, IsTheSlowestGroupsTime) {
  RingReport ring = report(102);
  ring.groups.push_back(ring.groups[0]);
  set(ring.groups[0].counters, Counter::kItems, 2000);
  set(ring.groups[1].counters, Counter::kItems, 1000);
  set(ring.counters, Counter::kSkippedItems, 1000);
  RingRates rates;
  rates.groups.resize(2);
  rates.groups[0].items_per_s = rates.groups[1].items_per_s = 100;
  EXPECT_DOUBLE_EQ(remaining_s(ring, rates).value(), 20);
  rates.groups[1].items_per_s = 0;
  EXPECT_FALSE(remaining_s(ring, rates)) << "nothing moves";
}

}  // namespace
}  // namespace tailrace
