#include "config/exit_codes.hpp"
#include "tests/ctl/pipeline_fixture.hpp"

namespace tailrace {
namespace {

using testing::HasSubstr;

class DrainCommand : public PipelineFixture {};

TEST_F(DrainCommand, WaitsUntilTheRingIsGone) {
  auto& run = start({"run", write_config(files_group() + held_group())});
  wait_until_held();
  auto& drain = start({"drain", name_});
  EXPECT_TRUE(eventually([&] { return report().drain_requested; }));
  EXPECT_TRUE(run.running());
  release();
  EXPECT_EQ(drain.wait(), kExitDone) << drain.err();
  EXPECT_TRUE(ring_is_gone());
  EXPECT_EQ(run.wait(), kExitTerminated) << run.err();
  EXPECT_THAT(run.err(), HasSubstr("with items left"));
}

TEST_F(DrainCommand, OnlyAsksForItWhereItIsNotToWait) {
  auto& run = start({"run", write_config(files_group() + held_group())});
  wait_until_held();
  EXPECT_EQ(start({"drain", name_, "--no-wait"}).wait(), kExitDone);
  EXPECT_TRUE(report().drain_requested);
  release();
  EXPECT_EQ(run.wait(), kExitTerminated) << run.err();
}

TEST_F(DrainCommand, TellsThatThereIsNoSuchRing) { EXPECT_EQ(start({"drain", name_}).wait(), kExitNoDevice); }

}  // namespace
}  // namespace tailrace
