#include "producer/profile/throughput.hpp"

#include <gmock/gmock.h>

namespace tailrace {
namespace {

using ::testing::HasSubstr;

Throughput ten_seconds(double compute_s, double input_wait_s, double slot_wait_s) {
  return {10, 20, 1280, 28'000'000'000, compute_s, input_wait_s, slot_wait_s};
}

TEST(Throughput, IsTheDifferenceOfTwoSamples) {
  CounterBlock counters{};
  counters.add(Counter::kBatches, 7);
  counters.add(Counter::kComputeNs, 5'000);
  const ThroughputSample begin = sample_throughput(counters);
  counters.add(Counter::kBatches, 3);
  counters.add(Counter::kItems, 30);
  counters.add(Counter::kBytes, 1'000);
  counters.add(Counter::kComputeNs, 2'000'000'000);
  counters.add(Counter::kStallInputNs, 1'000'000'000);
  counters.add(Counter::kStallSlotNs, 500'000'000);
  ThroughputSample end = sample_throughput(counters);
  end.time_ns = begin.time_ns + 4'000'000'000;
  const Throughput throughput = throughput_between(begin, end);
  EXPECT_EQ(throughput.steps, 3U);
  EXPECT_EQ(throughput.items, 30U);
  EXPECT_EQ(throughput.bytes, 1'000U);
  EXPECT_DOUBLE_EQ(throughput.wall_s, 4);
  EXPECT_DOUBLE_EQ(throughput.busy(), 0.5);
  EXPECT_DOUBLE_EQ(throughput.input_wait_s, 1);
  EXPECT_DOUBLE_EQ(throughput.slot_wait_s, 0.5);
}

TEST(Throughput, NamesWhatLimitsIt) {
  EXPECT_EQ(ten_seconds(9.96, 0.02, 0).limited_by(), "compute");
  EXPECT_EQ(ten_seconds(4, 5, 0.5).limited_by(), "input");
  EXPECT_EQ(ten_seconds(4, 1, 4).limited_by(), "slots");
  EXPECT_EQ(ten_seconds(1, 0, 0).limited_by(), "egress");
}

TEST(Throughput, SaysItInOneLine) {
  const std::string text = throughput_text(ten_seconds(9.96, 0.02, 0));
  EXPECT_THAT(text, HasSubstr("2.00 steps/s, 128.0 items/s, 2.80 GB/s out; device busy 99.60 %"));
  EXPECT_THAT(text, HasSubstr("limited by compute"));
}

TEST(Throughput, OfNoTimeIsNothing) { EXPECT_EQ(Throughput{}.busy(), 0); }

}  // namespace
}  // namespace tailrace
