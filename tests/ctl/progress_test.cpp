#include "ctl/progress.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tailrace {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::uint64_t kSecond = 1'000'000'000;

Progress half_way() {
  Progress progress;
  progress.time_ns = 100 * kSecond;
  progress.item_count = 1000;
  progress.batch_count = 100;
  progress.published = 60;
  progress.bytes = 3'000'000'000;
  progress.groups.push_back({"fast", 58, 580, 0, 0, {1, 0, 2, 1, 4}});
  progress.groups.push_back({"slow", 50, 500, 2, 3, {1, 0, 5, 2, 0}});
  return progress;
}

TEST(Progress, CountsWhatTheSlowestGroupIsThroughWith) {
  Progress progress = half_way();
  EXPECT_EQ(progress.items_behind(), 500U);
  EXPECT_EQ(progress.slowest().name, "slow");
  progress.skipped = 7;
  EXPECT_EQ(progress.items_behind(), 507U);
  progress.skipped = 2000;  // a restarted producer counts some twice
  EXPECT_EQ(progress.items_behind(), 1000U);
}

TEST(Progress, RatesComeFromTwoMoments) {
  Progress later = half_way();
  later.time_ns += 2 * kSecond;
  later.published += 10;
  later.bytes += 4'000'000'000;
  later.compute_ns += 3 * kSecond / 2;
  later.groups[0].items += 100;
  later.groups[1].items += 100;
  const Rates rates = rates_between(half_way(), later);
  EXPECT_DOUBLE_EQ(rates.steps_per_s, 5);
  EXPECT_DOUBLE_EQ(rates.items_per_s, 50);
  EXPECT_DOUBLE_EQ(rates.bytes_per_s, 2e9);
  EXPECT_DOUBLE_EQ(rates.busy, 0.75);
}

TEST(Progress, RatesAreZeroWithoutTimeAndForARingThatCountsAnew) {
  EXPECT_EQ(rates_between(half_way(), half_way()).steps_per_s, 0);
  Progress anew = half_way();
  anew.time_ns += kSecond;
  anew.published = 0;
  EXPECT_EQ(rates_between(half_way(), anew).steps_per_s, 0);
}

TEST(RateMeter, ForgetsWhatIsOlderThanItsWindow) {
  RateMeter meter(2 * kSecond);
  Progress progress = half_way();
  meter.add(progress);
  progress.published += 1000;  // a burst
  for (int i = 0; i < 4; ++i) {
    progress.time_ns += kSecond;
    progress.published += 3;
    meter.add(progress);
  }
  progress.time_ns += kSecond;
  progress.published += 3;
  EXPECT_DOUBLE_EQ(meter.add(progress).steps_per_s, 3);
}

TEST(RateMeter, LooksFurtherBackWhereStepsAreSlowerThanItsWindow) {
  RateMeter meter(2 * kSecond);
  Progress progress = half_way();
  meter.add(progress);
  Rates rates;
  for (int i = 1; i <= 20; ++i) {
    progress.time_ns += kSecond;
    progress.published += i % 5 == 0 ? 1 : 0;
    rates = meter.add(progress);
    if (i > 5) {
      EXPECT_GT(rates.steps_per_s, 0) << i;
    }
  }
  for (int i = 0; i < 30; ++i) {  // and nothing moves any more
    progress.time_ns += kSecond;
    rates = meter.add(progress);
  }
  EXPECT_EQ(rates.steps_per_s, 0);
}

TEST(ProgressLine, TellsShareRatesRestAndSlots) {
  const std::string line = progress_line("seg", half_way(), {5, 50, 2e9, 0.996});
  EXPECT_EQ(line,
            "seg  50% 500/1000 items  ETA 0:10  5.0 steps/s  50.0 items/s  2.00 GB/s  device busy 100%  "
            "slots: 1 free 0 filling 5 ready 2 leased 0 done");
}

TEST(ProgressLine, HasNoGuessWhereNothingMovesOrTheJobIsNotToEnd) {
  EXPECT_THAT(progress_line("seg", half_way(), {}), Not(HasSubstr("ETA")));
  Progress draining = half_way();
  draining.draining = true;
  EXPECT_THAT(progress_line("seg", draining, {5, 50, 2e9, 0.996}), HasSubstr("items  draining  5.0"));
  EXPECT_THAT(progress_line("seg", draining, {5, 50, 2e9, 0.996}), Not(HasSubstr("ETA")));
}

TEST(ProgressLine, TakesAnEmptyJobForDone) {
  Progress empty;
  EXPECT_THAT(progress_line("seg", empty, {}), HasSubstr("100% 0/0 items"));
}

TEST(SummaryText, HasALineForEachGroupAndTellsOfTheWorst) {
  const std::string text =
      summary_text({"seg",
                    75.5,
                    500,
                    Rates{6, 60, 1e9, 0.5},
                    2,
                    2,
                    {{"fast", 996, 4, 0, 0, 0, 0, "/out/a b"}, {"slow", 990, 4, 6, 0, 3, 3, "none kept"}}});
  EXPECT_THAT(
      text,
      HasSubstr("seg: 1000 items in 1:15: 990 done, 4 skipped, 6 set aside; 500 had been finished before\n"));
  EXPECT_THAT(text, HasSubstr("6.0 steps/s"));
  EXPECT_THAT(text, testing::ContainsRegex("fast +996 +4 +0 +0 +0  /out/a b\n"));
  EXPECT_THAT(text, testing::ContainsRegex("slow +990 +4 +6 +3 +3  none kept\n"));
  EXPECT_THAT(text, HasSubstr("the producer died 2 time(s) and was started again\n"));
}

TEST(SummaryText, SaysWhatIsLeft) {
  const std::string text =
      summary_text({"seg", 7, 0, {}, 0, 0, {{"a", 10, 0, 0, 0, 0, 0, ""}, {"b", 3, 0, 0, 7, 0, 0, ""}}});
  EXPECT_THAT(text, HasSubstr("seg: 7 of 10 items are left after 7.0 s: run again to go on\n"));
}

TEST(SummaryText, DoesNotSayThatADeadProducerWasStartedAgainWhereItWasNot) {
  const auto text_of = [](std::uint32_t deaths, std::uint32_t restarts) {
    return summary_text({"seg", 7, 0, {}, deaths, restarts, {{"a", 10, 0, 0, 0, 0, 0, ""}}});
  };
  EXPECT_THAT(text_of(1, 0), HasSubstr("the producer died 1 time(s) and was not started again\n"));
  EXPECT_THAT(text_of(3, 2), HasSubstr("the producer died 3 time(s) and was started again 2 time(s)\n"));
  EXPECT_THAT(text_of(0, 0), Not(HasSubstr("died")));
}

TEST(ClockText, SuitsSecondsHoursAndNonsense) {
  EXPECT_EQ(clock_text(7.9), "0:07");
  EXPECT_EQ(clock_text(754), "12:34");
  EXPECT_EQ(clock_text(3723), "1:02:03");
  EXPECT_EQ(clock_text(-5), "0:00");
  EXPECT_EQ(clock_text(1e300), "99:59:59");
}

}  // namespace
}  // namespace tailrace
