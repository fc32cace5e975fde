// Somebody removes files of a ring under the running pipeline: logind's RemoveIPC, or an rm.
#include <signal.h>
#include <unistd.h>

#include <fstream>

#include "config/exit_codes.hpp"
#include "shm/ring_owner.hpp"
#include "tests/ctl/pipeline_fixture.hpp"

namespace tailrace {
namespace {

using testing::HasSubstr;
using testing::Not;

using Names = std::vector<std::filesystem::path RingFiles::*>;

class LostNames : public PipelineFixture {
 protected:
  void lose(const Names& names) const {
    for (const auto name : names) ASSERT_TRUE(std::filesystem::remove(files_.*name)) << files_.*name;
  }
  static bool said(const StartedProgram& program, const std::string& text) {
    return eventually([&] { return program.err().find(text) != std::string::npos; });
  }
};

class LostNamesOf : public LostNames, public testing::WithParamInterface<Names> {};

// The ring is full and both groups' consumers are attached when it happens.
TEST_P(LostNamesOf, AreNamedAndANewRingIsMadeByTheSameProcesses) {
  auto& run = start({"run", write_config(files_group(2) + held_group())});
  wait_until_held();
  ASSERT_TRUE(eventually([&] { return ring_pids().size() == 4; }));  // both consumers of "files", too
  lose(GetParam());
  ASSERT_TRUE(said(run, "under the running pipeline")) << run.err();
  for (const auto name : GetParam()) EXPECT_THAT(run.err(), HasSubstr((files_.*name).string()));
  release();
  EXPECT_EQ(run.wait(), kExitDone) << run.err();
  EXPECT_EQ(whole_batches(), all_batches());
  EXPECT_TRUE(ring_is_gone());
  EXPECT_THAT(run.err(), Not(HasSubstr("starting it again"))) << "a process did not live through it";
}

INSTANTIATE_TEST_SUITE_P(Each, LostNamesOf,
                         testing::Values(Names{&RingFiles::control}, Names{&RingFiles::data},
                                         Names{&RingFiles::lock},
                                         Names{&RingFiles::control, &RingFiles::data, &RingFiles::lock}));

TEST_F(LostNames, OnceMoreInTheNewRingAreLivedThroughAsWell) {
  auto& run = start({"run", write_config(files_group() + held_group())});
  wait_until_held();
  const std::uint64_t first = attach_ring(files_, RingAccess::kObserver).ring->geometry().epoch;
  lose({&RingFiles::control, &RingFiles::data});
  ASSERT_TRUE(said(run, "under the running pipeline")) << run.err();
  release();
  ASSERT_TRUE(eventually([&] {
    const AttachAnswer answer = attach_ring(files_, RingAccess::kObserver);
    return answer.ring && answer.ring->geometry().epoch != first;
  }));
  for (const auto& name : {files_.data, files_.lock})
    std::filesystem::remove(name);  // it may end this moment
  EXPECT_EQ(run.wait(), kExitDone) << run.err();
  EXPECT_EQ(whole_batches(), all_batches());
  EXPECT_TRUE(ring_is_gone());
}

TEST_F(LostNames, UnderAPipelineThatDrainsLeaveNothingBehind) {
  auto& run = start({"run", write_config(files_group() + held_group())});
  wait_until_held();
  lose({&RingFiles::lock});
  ASSERT_TRUE(said(run, "under the running pipeline")) << run.err();
  run.send(SIGINT);
  ASSERT_TRUE(eventually([&] { return report().drain_requested; }));
  release();
  EXPECT_EQ(run.wait(), kExitInterrupted) << run.err();
  EXPECT_TRUE(ring_is_gone());
}

TEST_F(LostNames, OfAKilledProducerAreMadeAnewByItsSuccessorWhileConsumersLive) {
  auto& run = start({"run", write_config(files_group() + held_group())});
  wait_until_held();
  const auto victim = static_cast<pid_t>(report().producer->pid);
  kill(victim, SIGSTOP);  // so that it does not notice
  lose({&RingFiles::data});
  kill(victim, SIGKILL);
  ASSERT_TRUE(said(run, "starting it again"));
  release();
  EXPECT_EQ(run.wait(), kExitDone) << run.err();
  EXPECT_EQ(whole_batches(), all_batches());
  EXPECT_TRUE(ring_is_gone());
}

// The second one waits for the first, and the first one ends when it finds its role gone.
TEST_F(LostNames, OfTheRoleLetNoSecondProducerInBesideTheFirst) {
  const std::string config = "--config=" + write_config(files_group() + held_group());
  auto& files = start({config, "--group=files"}, {"", -1}, "tailrace-consumer");
  auto& held = start({config, "--group=held"}, {"", -1}, "tailrace-consumer");
  auto& first = start({config}, {"", -1}, "tailrace-producer");
  wait_until_held();
  lose({&RingFiles::lock});
  auto& second = start({config}, {"", -1}, "tailrace-producer");
  ASSERT_TRUE(said(first, "under the running pipeline")) << first.err();
  ASSERT_TRUE(said(second, "waiting for the previous producer to end: pid " + std::to_string(first.pid())))
      << second.err();
  EXPECT_EQ(report().producer->pid, first.pid());
  release();
  EXPECT_EQ(first.wait(), kExitTryAgain) << first.err();
  EXPECT_THAT(first.err(), HasSubstr("has a producer already: pid " + std::to_string(second.pid())));
  EXPECT_EQ(second.wait(), kExitDone) << second.err();
  EXPECT_EQ(files.wait(), kExitDone) << files.err();
  EXPECT_EQ(held.wait(), kExitDone) << held.err();
  EXPECT_EQ(whole_batches(), all_batches());
  EXPECT_TRUE(ring_is_gone());
}

// With a supervisor, that one notices it, too.
TEST_F(LostNames, OfTheLedgerEndAProducerThatWaitsForItsConsumers) {
  const auto file = write_config(files_group() + held_group());
  auto& producer = start({"--config", file}, {"", -1}, "tailrace-producer");
  for (const std::string group : {"files", "held"})
    start({"--config", file, "--group", group}, {"", -1}, "tailrace-consumer");
  wait_until_held();
  std::filesystem::rename(folder_ / ".tailrace", folder_ / "away");
  EXPECT_EQ(producer.wait(), kExitIo) << producer.err();
  EXPECT_THAT(producer.err(), HasSubstr("was removed or replaced while"));
  release();
}

}  // namespace
}  // namespace tailrace
