#include <signal.h>

#include <fstream>

#include "config/exit_codes.hpp"
#include "tests/ctl/pipeline_fixture.hpp"

namespace tailrace {
namespace {

using testing::HasSubstr;

class CleanCommand : public PipelineFixture {};

TEST_F(CleanCommand, RefusesALiveRingAndRemovesADeadOne) {
  auto& run = start({"run", write_config(files_group() + held_group())});
  wait_until_held();
  auto& refused = start({"clean", name_});
  EXPECT_EQ(refused.wait(), kExitTryAgain);
  EXPECT_THAT(refused.err(), HasSubstr("in use by producer pid " + std::to_string(report().producer->pid)));

  run.send(SIGINT);
  ASSERT_TRUE(eventually([&] { return report().drain_requested; }));
  run.send(SIGINT);
  run.wait();
  EXPECT_FALSE(ring_is_gone());
  auto& clean = start({"clean", name_});
  EXPECT_EQ(clean.wait(), kExitDone) << clean.err();
  EXPECT_THAT(clean.out(), HasSubstr("removed " + files_.control.string() + "\n"));
  EXPECT_THAT(clean.out(), HasSubstr("removed " + files_.data.string() + "\n"));
  EXPECT_TRUE(ring_is_gone());
}

TEST_F(CleanCommand, RefusesARingOfConsumersAlone) {
  auto& run = start({"run", write_config(files_group() + held_group())});
  wait_until_held();
  const auto ring = report();
  run.send(SIGSTOP);  // it must not restart the producer
  kill(static_cast<pid_t>(ring.producer->pid), SIGKILL);
  ASSERT_TRUE(eventually([&] { return !report().producer->alive; }));
  std::filesystem::rename(files_.data, files_.data.string() + ".elsewhere");
  auto& clean = start({"clean", name_});
  EXPECT_EQ(clean.wait(), kExitTryAgain) << "a consumer was overlooked: " << clean.out();
  EXPECT_THAT(clean.err(), HasSubstr("in use by consumer pid "));
  EXPECT_TRUE(std::filesystem::exists(files_.control));
  std::filesystem::rename(files_.data.string() + ".elsewhere", files_.data);
  for (const auto& consumer : ring.consumers) kill(static_cast<pid_t>(consumer.pid), SIGKILL);
}

TEST_F(CleanCommand, RemovesWhatAHalfMadeRingLeft) {
  const auto half_made = unfinished(files_.data);
  std::ofstream(half_made) << "x";
  auto& clean = start({"clean", name_});
  EXPECT_EQ(clean.wait(), kExitDone) << clean.err();
  EXPECT_EQ(clean.out(), "removed " + half_made.string() + "\n");
  EXPECT_TRUE(ring_is_gone());
}

TEST_F(CleanCommand, RemovesDataFilesOfAnotherFolder) {
  const RingFiles elsewhere(name_, folder_);
  std::ofstream(elsewhere.data) << "x";
  EXPECT_EQ(start({"clean", name_}).wait(), kExitNoDevice);
  EXPECT_EQ(start({"clean", name_, "--directory", folder_.string()}).wait(), kExitDone);
  EXPECT_FALSE(std::filesystem::exists(elsewhere.data));
}

TEST_F(CleanCommand, TellsThatThereIsNothingOfThatName) {
  EXPECT_EQ(start({"clean", name_}).wait(), kExitNoDevice);
  EXPECT_TRUE(ring_is_gone());
}

}  // namespace
}  // namespace tailrace
