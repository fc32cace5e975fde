#include "ctl/scale_plan.hpp"

#include <gmock/gmock.h>

#include <string>

namespace tailrace {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

GroupServices services(std::map<std::uint32_t, std::string> states) { return {true, std::move(states)}; }

TEST(ScalePlan, StartsWhatIsMissing) {
  const ScalePlan plan = plan_scale(services({{1, "active"}, {3, "active"}}), 4);
  EXPECT_THAT(plan.start, ElementsAre(2u, 4u));
  EXPECT_THAT(plan.stop, IsEmpty());
}

TEST(ScalePlan, StopsTheNewestFirst) {
  const ScalePlan plan = plan_scale(services({{1, "active"}, {2, "active"}, {10, "activating"}}), 1);
  EXPECT_THAT(plan.stop, ElementsAre(10u, 2u));
  EXPECT_THAT(plan.start, IsEmpty());
}

TEST(ScalePlan, NoneIsANumber) {
  EXPECT_THAT(plan_scale(services({{1, "active"}, {2, "active"}}), 0).stop, ElementsAre(2u, 1u));
}

TEST(ScalePlan, ForgetsTheFailuresOfThoseThatItStarts) {
  const ScalePlan plan = plan_scale(services({{1, "failed"}, {2, "inactive"}, {3, "failed"}}), 2);
  EXPECT_THAT(plan.start, ElementsAre(1u, 2u));
  EXPECT_THAT(plan.reset_failed, ElementsAre(1u));
  EXPECT_THAT(plan.stop, IsEmpty());
}

TEST(ScalePlan, WaitsForThoseThatAreStoppingAlready) {
  EXPECT_THAT(plan_scale(services({{2, "deactivating"}}), 1).stop, ElementsAre(2u));
}

TEST(ScalePlan, StartsNoneOfAPipelineThatIsNotActive) {
  const ScalePlan plan = plan_scale({false, {{1, "active"}, {5, "active"}}}, 3);
  EXPECT_THAT(plan.start, IsEmpty());
  EXPECT_THAT(plan.stop, ElementsAre(5u));
}

TEST(ScalePlan, ReadsOnlyLinesOfItsOwnGroup) {
  const GroupServices found = parse_services(
      "tailrace-consumer@seg:masks:1.service loaded active running Tailrace consumer seg:masks:1\n"
      "tailrace-consumer@seg:masks:12.service loaded failed failed Tailrace consumer seg:masks:12\n"
      "tailrace-consumer@seg:masks2:3.service loaded active running x\n"
      "tailrace-consumer@seg:masks:x.service loaded active running x\n"
      "tailrace-consumer@seg:masks:4.service.d loaded active running x\n"
      "tailrace@seg.target loaded active active Tailrace pipeline seg\n"
      "garbage\n\n",
      "seg", "masks");
  EXPECT_TRUE(found.pipeline_active);
  EXPECT_EQ(found.states, (std::map<std::uint32_t, std::string>{{1, "active"}, {12, "failed"}}));
}

}  // namespace
}  // namespace tailrace
