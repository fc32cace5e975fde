#include "ctl/exporter/busy_meter.hpp"

#include <gtest/gtest.h>

#include "tests/exporter/example_ring.hpp"

namespace tailrace {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

RingReport ring_at(std::uint64_t time_ns, std::uint64_t compute_ns, std::uint64_t epoch = 7) {
  RingReport ring = example_ring();
  ring.time_ns = time_ns;
  ring.epoch = epoch;
  ring.counters[static_cast<std::size_t>(Counter::kComputeNs)] = compute_ns;
  return ring;
}

TEST(BusyMeter, TellsTheShareSinceTheBeginningOfItsWindow) {
  BusyMeter meter;
  meter.add(ring_at(100 * kSecond, 0));
  EXPECT_EQ(meter.busy(ring_at(102 * kSecond, kSecond)), 0.5);
  for (std::uint64_t s = 1; s <= 60; ++s) meter.add(ring_at((100 + s) * kSecond, s * kSecond / 4));
  EXPECT_NEAR(meter.busy(ring_at(160 * kSecond, 15 * kSecond)).value(), 0.25, 1e-9)
      << "what was before the window does not count";
}

TEST(BusyMeter, KnowsNothingOfARingThatItHasNotSeenForASecond) {
  BusyMeter meter;
  EXPECT_FALSE(meter.busy(ring_at(100 * kSecond, 0)));
  meter.add(ring_at(100 * kSecond, 0));
  EXPECT_FALSE(meter.busy(ring_at(100 * kSecond + 5, 5)));
}

TEST(BusyMeter, BeginsAnewWithANewRing) {
  BusyMeter meter;
  meter.add(ring_at(100 * kSecond, 50 * kSecond));
  EXPECT_FALSE(meter.busy(ring_at(110 * kSecond, 0, 8)));
  meter.add(ring_at(110 * kSecond, 0, 8));
  EXPECT_EQ(meter.busy(ring_at(114 * kSecond, kSecond, 8)), 0.25);
}

TEST(BusyMeter, StaysBetweenZeroAndOne) {
  BusyMeter meter;
  meter.add(ring_at(100 * kSecond, 10 * kSecond));
  EXPECT_EQ(meter.busy(ring_at(102 * kSecond, 90 * kSecond)), 1.0);
  EXPECT_EQ(meter.busy(ring_at(102 * kSecond, 0)), 0.0) << "a scribbled counter";
}

TEST(BusyMeter, ForgetsRingsThatAreGone) {
  BusyMeter meter;
  meter.add(ring_at(100 * kSecond, 0));
  meter.forget_gone(110 * kSecond);
  EXPECT_TRUE(meter.busy(ring_at(110 * kSecond, 0)));
  meter.forget_gone(120 * kSecond);
  EXPECT_FALSE(meter.busy(ring_at(120 * kSecond, 0)));
}

}  // namespace
}  // namespace tailrace
