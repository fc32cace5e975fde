#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

#include "config/exit_codes.hpp"
#include "ctl/ring_watch.hpp"
#include "shm/ring_owner.hpp"
#include "tests/ctl/pipeline_fixture.hpp"

namespace tailrace {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class RunCommand : public PipelineFixture {};

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

/// The first child that a run starts, once it has become a program of its own.
pid_t wait_for_producer(const StartedProgram& run) {
  const std::string pid = std::to_string(run.pid());
  pid_t producer = 0;
  EXPECT_TRUE(eventually([&] {
    std::ifstream("/proc/" + pid + "/task/" + pid + "/children") >> producer;
    return content_of("/proc/" + std::to_string(producer) + "/comm") == "tailrace-produc\n";
  }));
  return producer;
}

TEST_F(RunCommand, FinishesAJobWithOneConsumer) {
  auto& run = start({"run", write_config(files_group())});
  EXPECT_EQ(run.wait(), kExitDone) << run.err();
  EXPECT_EQ(whole_batches(), all_batches());
  EXPECT_TRUE(ring_is_gone());
  EXPECT_THAT(run.out(), HasSubstr(name_));
}

TEST_F(RunCommand, FinishesAJobWithTwoGroupsOfSeveralConsumers) {
  const auto file = write_config(files_group(4) + held_group(2));
  auto& run = start({"run", file, "--set", "log.level=warning"});
  wait_until_held();
  release();
  EXPECT_EQ(run.wait(), kExitDone) << run.err();
  EXPECT_EQ(whole_batches(), all_batches());
  EXPECT_TRUE(ring_is_gone());
  EXPECT_THAT(run.out(), HasSubstr("46 items in"));
  EXPECT_THAT(run.out(), testing::ContainsRegex("files +46 +0 +0 +0 +0 .*/out\n +held +46 +0 +0 +0 +0 "));
  EXPECT_THAT(run.err(), Not(HasSubstr(" info "))) << "--set did not reach the children";
}

TEST_F(RunCommand, KillsAConsumerThatMakesNoProgressAndGivesItsBatchToAnother) {
  auto& run =
      start({"run", write_config(files_group() + held_group()), "--set", "group.held.progress_limit=1 s"});
  ASSERT_TRUE(eventually([&] { return run.err().find("killing it") != std::string::npos; })) << run.err();
  release();
  EXPECT_EQ(run.wait(), kExitDone) << run.err();
  EXPECT_EQ(whole_batches(), all_batches());
  EXPECT_THAT(run.err(),
              testing::ContainsRegex("held.* \\(pid [0-9]+\\) has been at the batch in slot [0-9]"));
  EXPECT_THAT(run.err(), Not(testing::ContainsRegex("files[^ ]* \\(pid [0-9]+\\) has been")));
}

TEST_F(RunCommand, FindsTheSameChecksumsWithAndWithoutARing) {
  const auto file = write_config("[[group]]\nname = \"sums\"\nsink = { kind = \"checksum\" }\n");
  const auto manifest_of = [&](const std::string& strategy) {
    auto& run =
        start({"run", file, "--set", "egress.strategy=" + strategy, "--set", "pipeline.state=" + strategy});
    EXPECT_EQ(run.wait(), kExitDone) << run.err();
    return content_of(folder_ / strategy / "manifest.jsonl");
  };
  const std::string with_ring = manifest_of("streams");
  EXPECT_EQ(count_of(with_ring, "checksum"), kItems);
  EXPECT_EQ(manifest_of("inline"), with_ring);
}

TEST_F(RunCommand, FinishesAJobWithoutARing) {
  auto& run = start({"run", write_config(files_group()), "--set", "egress.strategy=inline"});
  EXPECT_EQ(run.wait(), kExitDone) << run.err();
  EXPECT_EQ(whole_batches(), all_batches());
  EXPECT_THAT(run.err(), Not(HasSubstr("consumer")));
}

TEST_F(RunCommand, ReplacesAKilledConsumerAndLosesNothing) {
  auto& run = start({"run", write_config(files_group() + held_group())});
  wait_until_held();
  const auto victim = static_cast<pid_t>(report().groups[1].oldest_lease->pid);
  kill(victim, SIGKILL);
  EXPECT_TRUE(eventually(
      [&] { return report().groups[1].counters[static_cast<std::size_t>(Counter::kRedeliveries)] == 1; }));
  release();
  EXPECT_EQ(run.wait(), kExitDone) << run.err();
  EXPECT_EQ(whole_batches(), all_batches());
  EXPECT_THAT(run.out(), testing::ContainsRegex("held +46 +0 +0 +1 +1 "));
  EXPECT_THAT(run.err(), HasSubstr("consumer held:1 (pid " + std::to_string(victim) +
                                   ") was ended by signal 9; starting it again"));
}

TEST_F(RunCommand, ReplacesAConsumerThatIsStoppedWhenEverythingIsPublishedButNotDone) {
  auto& run = start({"run", write_config(files_group() + held_group()), "--set",
                     "source.items=" + std::to_string(kSlots * kBatchSize)});
  wait_until_held();
  ASSERT_TRUE(eventually([&] { return report().state == RingState::kFinished; }));
  kill(static_cast<pid_t>(report().groups[1].oldest_lease->pid), SIGTERM);
  release();
  EXPECT_EQ(run.wait(), kExitDone) << run.err();
  EXPECT_THAT(run.out(), testing::ContainsRegex("held +12 +0 "));
}

TEST_F(RunCommand, ReplacesAKilledProducerAndDoublesNothing) {
  auto& run = start({"run", write_config(files_group() + held_group())});
  wait_until_held();
  const auto victim = static_cast<pid_t>(report().producer->pid);
  kill(victim, SIGKILL);
  ASSERT_TRUE(eventually([&] {
    const auto producer = report().producer;
    return producer && producer->alive && producer->pid != victim;
  }));
  release();
  EXPECT_EQ(run.wait(), kExitDone) << run.err();
  EXPECT_EQ(whole_batches(), all_batches());
  EXPECT_TRUE(ring_is_gone());
  EXPECT_THAT(run.out(), testing::ContainsRegex("files +46 +0 +0 +0 +0 "));
  EXPECT_THAT(run.out(), HasSubstr("the producer died 1 time(s)"));
}

TEST_F(RunCommand, EndsWhereSomebodyTakesItsLedgerAway) {
  auto& run = start({"run", write_config(files_group() + held_group())});
  wait_until_held();
  std::filesystem::rename(folder_ / ".tailrace", folder_ / "away");
  EXPECT_TRUE(
      eventually([&] { return run.err().find("was removed or replaced while") != std::string::npos; }));
  release();
  EXPECT_EQ(run.wait(), kExitIo) << run.err();
  EXPECT_FALSE(std::filesystem::exists(folder_ / ".tailrace")) << "somebody began another one";
}

TEST_F(RunCommand, GoesOnWhenItsLedgerIsPutBack) {
  const auto file = write_config(files_group() + held_group());
  auto& robbed = start({"run", file});
  wait_until_held();
  std::filesystem::rename(folder_ / ".tailrace", folder_ / "away");
  EXPECT_TRUE(eventually([&] { return robbed.err().find("stopping every") != std::string::npos; }));
  release();
  EXPECT_EQ(robbed.wait(), kExitIo) << robbed.err();
  std::filesystem::rename(folder_ / "away", folder_ / ".tailrace");
  auto& run = start({"run", file});
  EXPECT_EQ(run.wait(), kExitDone) << run.err();
  EXPECT_EQ(whole_batches(), all_batches());
}

TEST_F(RunCommand, DrainsOnTheFirstCtrlC) {
  auto& run = start({"run", write_config(files_group() + held_group())});
  wait_until_held();
  run.send(SIGINT);
  ASSERT_TRUE(eventually([&] { return report().drain_requested; }));
  release();
  EXPECT_EQ(run.wait(), kExitInterrupted) << run.err();
  EXPECT_TRUE(ring_is_gone());
  EXPECT_THAT(whole_batches().size(), testing::AllOf(testing::Ge(3U), testing::Lt(kBatches)));
  EXPECT_THAT(run.err(), HasSubstr("finishing what is in flight"));
}

TEST_F(RunCommand, StopsAtOnceOnTheSecondSignalAndGoesOnWhenRunAgain) {
  const auto file = write_config(files_group() + held_group());
  auto& run = start({"run", file});
  wait_until_held();
  const auto pids = ring_pids();
  run.send(SIGTERM);
  ASSERT_TRUE(eventually([&] { return report().drain_requested; }));
  run.send(SIGTERM);
  EXPECT_EQ(run.wait(), kExitTerminated) << run.err();
  for (const pid_t pid : pids) EXPECT_FALSE(is_alive(pid));
  EXPECT_THAT(run.err(), HasSubstr("the ring stays, with 3 unfinished batches"));
  release();
}

TEST_F(RunCommand, GoesOnWithTheRingOfAKilledPipeline) {
  const auto file = write_config(files_group() + held_group());
  auto& killed = start({"run", file});
  wait_until_held();
  const auto pids = ring_pids();
  killed.send(SIGSTOP);  // it must not restart them
  for (const pid_t pid : pids) kill(pid, SIGKILL);
  killed.send(SIGKILL);
  killed.wait();
  ASSERT_TRUE(eventually([&] { return ring_pids().empty() && !find_producer(files_); }));
  release();
  auto& run = start({"run", file});
  EXPECT_EQ(run.wait(), kExitDone) << run.err();
  EXPECT_EQ(whole_batches(), all_batches());
  EXPECT_TRUE(ring_is_gone());
}

TEST_F(RunCommand, GoesOnWithTheRingOfAProducerThatWasKilledWhileItDrained) {
  const auto file = write_config(files_group() + held_group());
  auto& killed = start({"run", file});
  wait_until_held();
  const auto pids = ring_pids();
  killed.send(SIGSTOP);
  for (const pid_t pid : pids) kill(pid, SIGKILL);
  killed.send(SIGKILL);
  killed.wait();
  ASSERT_TRUE(eventually([&] { return ring_pids().empty() && !find_producer(files_); }));
  // What a producer says whose supervisor is gone, before it waits for the consumers.
  attach_ring(files_, RingAccess::kOperator).ring->header().ring_state = RingState::kFinished;
  release();
  auto& run = start({"run", file});
  EXPECT_EQ(run.wait(), kExitDone) << run.err();
  EXPECT_EQ(whole_batches(), all_batches());
}

TEST_F(RunCommand, RefusesAtLoadAnOutputThatASinkCannotTake) {
  auto& run =
      start({"run", write_config("[[group]]\nname = \"m\"\nsink = { kind = \"npy\", path = \"m\" }\n"),
             "--set=egress.dtype=\"float8_e5m2\""});
  EXPECT_EQ(run.wait(), kExitConfig);
  EXPECT_THAT(run.err(), HasSubstr("group m: tensor"));
  EXPECT_TRUE(ring_is_gone());
}

TEST_F(RunCommand, EndsWithAMessageWhereTheRingIsTruncatedUnderIt) {
  auto& run = start({"run", write_config(files_group() + held_group())});
  wait_until_held();
  const auto pids = ring_pids();
  std::filesystem::resize_file(files_.control, 0);
  EXPECT_EQ(run.wait(), kExitDamagedRing);
  EXPECT_THAT(run.err(), HasSubstr("was truncated"));
  release();
  EXPECT_TRUE(eventually([&] { return std::none_of(pids.begin(), pids.end(), is_alive); }));
}

TEST_F(RunCommand, ReplacesARingThatNobodyUsesAndThatDoesNotFit) {
  std::ofstream(files_.control) << std::string(1000, 'x');
  auto& first = start({"run", write_config(files_group())});
  EXPECT_EQ(first.wait(), kExitDone) << first.err();
  EXPECT_EQ(whole_batches(), all_batches());
}

TEST_F(RunCommand, LeavesNothingBehindWhenItIsKilled) {
  auto& run = start({"run", write_config(files_group() + held_group())});
  wait_until_held();
  const auto pids = ring_pids();
  EXPECT_EQ(pids.size(), 3U);
  run.send(SIGKILL);
  run.wait();
  release();
  EXPECT_TRUE(eventually([&] { return ring_is_gone(); }));
  for (const pid_t pid : pids) EXPECT_TRUE(eventually([&] { return !is_alive(pid); }));
  EXPECT_THAT(whole_batches().size(), testing::Ge(3U));
}

TEST_F(RunCommand, RefusesABadConfigurationBeforeAnythingIsTouched) {
  const auto file = write_config(files_group());
  for (const char* value :
       {"ring.slots=0", "egress.strategy=teleport", "nonsense=1", "model.path=missing.pt"}) {
    auto& run = start({"run", file, "--set", "model.kind=torchscript", "--set", value});
    EXPECT_EQ(run.wait(), kExitConfig) << value;
    EXPECT_THAT(run.out(), IsEmpty());
    EXPECT_THAT(run.err(), testing::StartsWith("tailrace: "));
  }
  EXPECT_EQ(start({"run", (folder_ / "missing.toml").string()}).wait(), kExitConfig);
  EXPECT_TRUE(ring_is_gone());
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out"));
}

TEST_F(RunCommand, EndsWithTheCodeOfAProducerThatCannotBeHelped) {
  std::ofstream(folder_ / "model.pt") << "this is no model";
  auto& run = start({"run", write_config(files_group()), "--set", "model.kind=torchscript", "--set",
                     "model.path=model.pt"});
  EXPECT_EQ(run.wait(), kExitConfig) << run.err();
  EXPECT_THAT(run.err(), HasSubstr("ended with exit code 78; starting it again would not help"));
  EXPECT_THAT(run.err(), Not(HasSubstr("starting it again\n")));
  EXPECT_TRUE(ring_is_gone());
}

TEST_F(RunCommand, EndsWhenAConsumerDiesAgainAndAgain) {
  const std::string group =
      "[[group]]\nname = \"files\"\nmax_attempts = 0\n"
      "sink = { kind = \"exec\", command = [\"sh\", \"-c\", \"kill -9 $PPID\"] }\n";
  auto& run = start({"run", write_config(group)});
  EXPECT_EQ(run.wait(), 128 + SIGKILL) << run.err();
  EXPECT_THAT(run.err(), HasSubstr("would not help"));
  EXPECT_EQ(count_of(run.err(), "starting it again\n"), 4U) << run.err();
  EXPECT_TRUE(ring_is_gone()) << "nobody has done anything of it";
}

TEST_F(RunCommand, EndsAtOnceWhereASinkCannotHaveItsFolder) {
  std::ofstream(folder_ / "file") << "x";
  auto& run = start(
      {"run", write_config("[[group]]\nname = \"files\"\nsink = { kind = \"npy\", path = \"file/out\" }\n")});
  EXPECT_EQ(run.wait(), kExitIo) << run.err();
  EXPECT_EQ(count_of(run.err(), "starting it again\n"), 0U) << run.err();
  EXPECT_TRUE(ring_is_gone());
}

/// For the programs that are started while it lives.
class Limit {
 public:
  Limit(__rlimit_resource resource, rlim_t value) : resource_(resource) {
    getrlimit(resource_, &before_);
    const rlimit lower{value, before_.rlim_max};
    setrlimit(resource_, &lower);
  }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;
  ~Limit() { setrlimit(resource_, &before_); }

 private:
  __rlimit_resource resource_;
  rlimit before_{};
};

TEST_F(RunCommand, SaysThatTheRingIsLargerThanAFileMayBe) {
  const auto file = write_config(files_group());
  const Limit limit(RLIMIT_FSIZE, 1U << 20);
  auto& run = start({"run", file});
  EXPECT_EQ(run.wait(), kExitIo) << run.err();
  EXPECT_THAT(run.err(), HasSubstr("bytes for " + files_.data.string()));
  EXPECT_TRUE(ring_is_gone());
}

TEST_F(RunCommand, RefusesAPipelineThatRunsAlready) {
  const auto file = write_config(files_group() + held_group());
  auto& first = start({"run", file});
  wait_until_held();
  auto& second = start({"run", file});
  EXPECT_EQ(second.wait(), kExitTryAgain);
  EXPECT_THAT(second.err(),
              HasSubstr("has a producer already: pid " + std::to_string(report().producer->pid)));
  release();
  EXPECT_EQ(first.wait(), kExitDone) << first.err();
  EXPECT_EQ(whole_batches(), all_batches());
}

TEST_F(RunCommand, StopsWhileThereIsNoRingYet) {
  auto& run = start({"run", write_config(files_group())});
  const pid_t producer = wait_for_producer(run);
  EXPECT_EQ(getpgid(producer), producer) << "a terminal's Ctrl-C would reach it";
  kill(producer, SIGSTOP);  // for as long as the signal needs
  run.send(SIGINT);
  EXPECT_TRUE(eventually([&] { return run.err().find("once more stops at once") != std::string::npos; }));
  kill(producer, SIGCONT);
  EXPECT_EQ(run.wait(), kExitInterrupted) << run.err();
  EXPECT_TRUE(ring_is_gone());
}

TEST_F(RunCommand, GivesWayToAProducerThatWasFasterToLoad) {
  auto& run = start({"run", write_config(files_group())});
  const pid_t producer = wait_for_producer(run);
  kill(producer, SIGSTOP);
  auto role = ProducerRole::try_take(files_);
  ASSERT_TRUE(role);
  kill(producer, SIGCONT);
  EXPECT_EQ(run.wait(), kExitTryAgain);
  EXPECT_THAT(run.err(), HasSubstr("has a producer already: pid " + std::to_string(getpid())));
  EXPECT_THAT(run.err(), HasSubstr("would not help"));
  EXPECT_TRUE(std::filesystem::exists(files_.lock)) << "it took away what was another's";
  role->remove_files();
}

TEST_F(RunCommand, TellsSkippedItemsByItsExitCode) {
  if (!TAILRACE_IMAGES_BUILT) GTEST_SKIP() << "built without images";
  std::filesystem::create_directory(folder_ / "in");
  std::ofstream(folder_ / "in" / "bad.png") << "this is no picture";
  std::ofstream(folder_ / "pictures.toml")
      << "[pipeline]\nname = \"" << name_
      << "\"\ndevice = \"cpu\"\n[source]\nkind = \"images\"\npath = \"in\"\n"
      << "batch_size = 1\nsize = [8, 8]\nworkers = 1\n[model]\nkind = \"synthetic\"\nshape = [6]\n"
      << held_group();
  auto& run = start({"run", (folder_ / "pictures.toml").string()});
  ASSERT_TRUE(eventually([&] {
    const RingReport ring = report();
    return ring.readable() && ring.groups[0].slots.leased == 1;
  }));
  release();
  EXPECT_EQ(run.wait(), kExitSkippedItems) << run.err();
  EXPECT_THAT(run.out(), HasSubstr("1 items in"));
}

TEST_F(RunCommand, SaysThatItsSummaryCannotBeWritten) {
  for (const char* out : {"/dev/full", StartedProgram::kClosed}) {
    auto& run = start({"run", write_config(files_group())}, {out, -1});
    EXPECT_EQ(run.wait(), kExitIo) << out;
    EXPECT_THAT(run.err(), HasSubstr("cannot write to standard output"));
    EXPECT_EQ(whole_batches(), all_batches());
  }
}

}  // namespace
}  // namespace tailrace
