#include "ctl/doctor/figures.hpp"

#include <gmock/gmock.h>

#include "tests/ctl/made_report.hpp"
#include "tests/doctor/made_tree.hpp"

namespace tailrace {
namespace {

using ::testing::HasSubstr;
using testing::report;

const std::optional<RingRates> kRates = RingRates{};

std::string why_not(const RingReport& ring) { return why_not_judged(ring, kRates).value_or("judged"); }

TEST(APipeline, IsJudgedWhereItWorks) { EXPECT_EQ(why_not(report()), "judged"); }

TEST(APipeline, IsNotJudgedBeforeItsFirstBatch) {
  RingReport ring = report();
  testing::set(ring.counters, Counter::kBatches, 0);
  EXPECT_THAT(why_not(ring), HasSubstr("nothing yet: the producer has been at 'compute'"));
}

TEST(APipeline, IsNotJudgedByItsFirstBatches) {
  RingReport ring = report();
  ring.producer->batches = 9;  // of the present producer; another one may have published the others
  EXPECT_THAT(why_not(ring), HasSubstr("just begun"));
  ring.producer->batches = 10;
  EXPECT_EQ(why_not(ring), "judged");
}

TEST(APipeline, IsNotJudgedWhereSomebodyIsMissing) {
  RingReport ring = report();
  ring.producer->alive = false;
  EXPECT_THAT(why_not(ring), HasSubstr("no producer"));
  ring = report();
  ring.producer.reset();
  EXPECT_THAT(why_not(ring), HasSubstr("no producer"));
  ring = report();
  ring.consumers.clear();
  EXPECT_THAT(why_not(ring), HasSubstr("group masks has no consumer"));
}

TEST(APipeline, IsNotJudgedWhereStorageRefuses) {
  RingReport ring = report();
  ring.consumers[0].activity = name_of(Activity::kRetrying);
  EXPECT_THAT(why_not(ring), HasSubstr("the storage refuses the batches of group masks"));
}

TEST(APipeline, IsNotJudgedWhereSomebodyStandsStill) {
  RingReport ring = report();
  ring.consumers[0].heartbeat_age_s = 10;
  EXPECT_THAT(why_not(ring), HasSubstr("group masks has no consumer at work"));
  ring = report();
  ring.producer->heartbeat_age_s = 10;
  EXPECT_THAT(why_not(ring), HasSubstr("no producer is at work"));
}

TEST(APipeline, IsNotJudgedAtItsEnd) {
  RingReport ring = report();
  ring.state = RingState::kFinished;
  EXPECT_THAT(why_not(ring), HasSubstr("everything is published"));
  ring.groups[0].done = true;
  EXPECT_THAT(why_not(ring), HasSubstr("everything is done"));
  ring = report();
  ring.drain_requested = true;
  EXPECT_THAT(why_not(ring), HasSubstr("drained"));
}

TEST(APipeline, IsNotJudgedWhereItsRingWasReplacedOrIsOfNoUse) {
  EXPECT_THAT(why_not_judged(report(), std::nullopt).value(), HasSubstr("replaced"));
  EXPECT_THAT(why_not(RingReport{}), HasSubstr("cannot be read"));
  RingReport ring = report();
  ring.damage = "slot 3";
  EXPECT_THAT(why_not(ring), HasSubstr("damaged"));
}

TEST(CpuUse, IsWhatIsNotIdleBetweenTwoLooks) {
  EXPECT_DOUBLE_EQ(cpu_busy(CpuTicks{100, 1000}, CpuTicks{150, 1200}).value(), 0.75);
  EXPECT_FALSE(cpu_busy(CpuTicks{100, 1000}, CpuTicks{100, 1000}));
  EXPECT_FALSE(cpu_busy(std::nullopt, CpuTicks{100, 1000}));
}

TEST(CpuUse, IsReadFromTheFirstLineOfStat) {
  const testing::MadeTree tree;
  tree.add("/proc/stat", "cpu  10 1 5 80 4 0 0 0 7 0\ncpu0 1 1 1 1\n");
  const auto ticks = read_cpu_ticks(tree.root() / "proc");
  ASSERT_TRUE(ticks);
  EXPECT_EQ(ticks->idle, 84U);
  EXPECT_EQ(ticks->all, 100U) << "guests are in the first field already";
  EXPECT_FALSE(read_cpu_ticks(tree.root() / "nowhere"));
}

}  // namespace
}  // namespace tailrace
