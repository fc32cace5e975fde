#include <algorithm>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "config/exit_codes.hpp"
#include "ledger/job_ledger.hpp"
#include "tests/ctl/pipeline_fixture.hpp"
#include "tests/sources/npy_text.hpp"

namespace tailrace {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Resume : public PipelineFixture {
 protected:
  /// The batches that a run wrote since the last call: their files are taken away.
  std::vector<std::uint64_t> take_written() const {
    auto numbers = whole_batches();
    std::filesystem::remove_all(folder_ / "out");
    return numbers;
  }

  [[nodiscard]] std::vector<nlohmann::json> manifest() const {
    std::istringstream lines(content_of(folder_ / ".tailrace" / name_ / "manifest.jsonl"));
    std::vector<nlohmann::json> items;
    for (std::string line; std::getline(lines, line);) items.push_back(nlohmann::json::parse(line));
    return items;
  }

  /// Runs until the ring is full and "files" has done what is in it; then every process stops at once.
  void run_to_the_middle(const std::string& file) {
    auto& run = start({"run", file});
    wait_until_held();
    run.send(SIGTERM);
    ASSERT_TRUE(eventually([&] { return report().drain_requested; }));
    run.send(SIGTERM);
    EXPECT_EQ(run.wait(), kExitTerminated) << run.err();
  }

  /// The same, but what is in flight is finished.
  void drain_in_the_middle(const std::string& file) {
    auto& run = start({"run", file});
    wait_until_held();
    run.send(SIGINT);
    ASSERT_TRUE(eventually([&] { return report().drain_requested; }));
    release();
    EXPECT_EQ(run.wait(), kExitInterrupted) << run.err();
  }

  void expect_the_rest_is_done(const std::string& file, std::vector<std::uint64_t> done) {
    release();
    auto& run = start({"run", file});
    EXPECT_EQ(run.wait(), kExitDone) << run.err();
    for (const std::uint64_t number : take_written()) {
      EXPECT_EQ(std::count(done.begin(), done.end(), number), 0) << "batch " << number << " was done twice";
      done.push_back(number);
    }
    std::sort(done.begin(), done.end());
    EXPECT_EQ(done, all_batches());
    EXPECT_TRUE(ring_is_gone());
  }
};

TEST_F(Resume, DoesNothingWhereEverythingIsFinished) {
  const auto file = write_config(files_group());
  EXPECT_EQ(start({"run", file}).wait(), kExitDone);
  EXPECT_EQ(take_written(), all_batches());
  auto& again = start({"run", file});
  EXPECT_EQ(again.wait(), kExitDone) << again.err();
  EXPECT_TRUE(take_written().empty());
  EXPECT_THAT(again.err(), HasSubstr("nothing is left to do"));
  EXPECT_TRUE(ring_is_gone());
}

TEST_F(Resume, LetsAConsumerGoThatComesWhenTheJobIsComplete) {
  const auto file = write_config(files_group());
  EXPECT_EQ(start({"run", file}).wait(), kExitDone);
  StartedProgram late({"--config", file, "--group", "files"}, folder_, {"", -1}, "tailrace-consumer");
  EXPECT_EQ(late.wait(), kExitDone);
  EXPECT_THAT(late.err(), HasSubstr("the job is complete"));
}

TEST_F(Resume, DoesTheRestWithTheOldRing) {
  const auto file = write_config(files_group() + held_group());
  run_to_the_middle(file);
  expect_the_rest_is_done(file, take_written());
}

TEST_F(Resume, DoesTheRestWithoutTheOldRing) {
  const auto file = write_config(files_group() + held_group());
  run_to_the_middle(file);
  EXPECT_EQ(start({"clean", name_}).wait(), kExitDone);
  expect_the_rest_is_done(file, take_written());
}

TEST_F(Resume, WritesNothingOfALeftoverRingIntoAnotherLedger) {
  const auto file = write_config(files_group() + held_group());
  run_to_the_middle(file);
  release();
  auto& other = start({"run", file, "--set", "pipeline.state=other"});
  EXPECT_EQ(other.wait(), kExitDamagedRing) << other.err();
  EXPECT_THAT(other.err(), HasSubstr("unfinished batches of another job"));
  JobLedger ledger(Ledger::open(folder_ / "other"));
  const std::vector<std::string> groups{"files", "held"};
  for (const GroupTotals& totals : ledger.totals(groups)) EXPECT_EQ(totals.done, 0U) << totals.group;
}

TEST_F(Resume, DoesTheRestAfterADrain) {
  const auto file = write_config(files_group() + held_group());
  drain_in_the_middle(file);
  expect_the_rest_is_done(file, take_written());
}

TEST_F(Resume, DoesTheRestWithBatchesOfAnotherSize) {
  const auto file =
      write_config("[[group]]\nname = \"files\"\nsink = { kind = \"checksum\" }\n" + held_group());
  drain_in_the_middle(file);
  auto& rest = start({"run", file, "--set", "source.batch_size=5"});
  EXPECT_EQ(rest.wait(), kExitDone) << rest.err();
  EXPECT_EQ(manifest().size(), kItems);
}

TEST_F(Resume, DoesTheRestWithoutARing) {
  const auto file = write_config(files_group() + held_group());
  run_to_the_middle(file);
  EXPECT_EQ(start({"clean", name_}).wait(), kExitDone);
  auto done = take_written();
  release();
  auto& run = start({"run", file, "--set", "egress.strategy=inline"});
  EXPECT_EQ(run.wait(), kExitDone) << run.err();
  for (const std::uint64_t number : take_written()) done.push_back(number);
  std::sort(done.begin(), done.end());
  EXPECT_EQ(done, all_batches());
}

TEST_F(Resume, DoesAllForAGroupThatIsNew) {
  const auto file = write_config(files_group());
  EXPECT_EQ(start({"run", file}).wait(), kExitDone);
  EXPECT_EQ(take_written(), all_batches());
  release();
  auto& run = start({"run", write_config(files_group() + held_group())});
  EXPECT_EQ(run.wait(), kExitDone) << run.err();
  EXPECT_TRUE(take_written().empty()) << "the old group did its batches again";
  EXPECT_THAT(run.out(), ::testing::ContainsRegex("held +46 +0 "));
}

TEST_F(Resume, RefusesAnotherListOfItems) {
  const auto file = write_config(files_group());
  EXPECT_EQ(start({"run", file}).wait(), kExitDone);
  auto& run = start({"run", file, "--set", "source.items=50"});
  EXPECT_EQ(run.wait(), kExitConfig) << run.err();
  EXPECT_THAT(run.err(), HasSubstr("ledger"));
  EXPECT_TRUE(ring_is_gone());
}

TEST_F(Resume, DoesOnlyWhatIsNewInAListThatGrew) {
  const auto write_rows = [&](const std::string& name, std::size_t count) {
    std::ofstream(folder_ / "rows" / name) << npy_file(
        1, npy_header_text("|u1", "(" + std::to_string(count) + ", 2)"), std::string(2 * count, 'x'));
  };
  std::filesystem::create_directory(folder_ / "rows");
  write_rows("b.npy", 10);
  const auto file = write_config("[[group]]\nname = \"sums\"\nsink = { kind = \"checksum\" }\n");
  const auto run_arrays = [&](const std::vector<std::string>& more) -> StartedProgram& {
    std::vector<std::string> arguments{"run", file, "--set=source.kind=arrays", "--set=source.path=rows"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return start(arguments);
  };
  EXPECT_EQ(run_arrays({}).wait(), kExitDone);
  write_rows("a.npy", 3);  // before the others: they move
  auto& refused = run_arrays({});
  EXPECT_EQ(refused.wait(), kExitConfig);
  EXPECT_THAT(refused.err(), AllOf(HasSubstr("3 items came"), HasSubstr("--accept-changed-items")));
  auto& accepted = run_arrays({"--accept-changed-items"});
  EXPECT_EQ(accepted.wait(), kExitDone) << accepted.err();
  EXPECT_THAT(accepted.out(), AllOf(HasSubstr("13 items in"), HasSubstr("10 had been finished before")));
  const auto items = manifest();
  ASSERT_EQ(items.size(), 13U);
  EXPECT_EQ(items[2]["name"], "a.npy:2");
  EXPECT_EQ(items[12]["name"], "b.npy:9");
  for (const auto& item : items) EXPECT_EQ(item["state"], "done");
}

TEST_F(Resume, LeavesNoManifestOfAnotherTime) {
  const auto file = write_config(files_group());
  EXPECT_EQ(start({"run", file}).wait(), kExitDone);
  const auto old = folder_ / ".tailrace" / name_ / "manifest.jsonl";
  EXPECT_TRUE(std::filesystem::exists(old));
  auto& run = start({"run", write_config(files_group() + held_group())});
  ASSERT_TRUE(eventually([&] { return report().readable(); }));
  EXPECT_FALSE(std::filesystem::exists(old));
  release();
  EXPECT_EQ(run.wait(), kExitDone) << run.err();
}

TEST_F(Resume, KeepsTheExitCodeOfAJobWithBatchesSetAside) {
  const auto file = write_config(
      "[[group]]\nname = \"files\"\nmax_attempts = 1\nsink = { kind = \"exec\", command = [\"false\"] }\n");
  auto& run = start({"run", file, "--set", "source.items=6"});
  EXPECT_EQ(run.wait(), kExitSkippedItems) << run.err();
  auto& again = start({"run", file, "--set", "source.items=6"});
  EXPECT_EQ(again.wait(), kExitSkippedItems) << again.err();
  const auto items = manifest();
  ASSERT_EQ(items.size(), 6U);
  EXPECT_EQ(items.back()["state"], "set_aside");
  EXPECT_THAT(items.back()["groups"]["files"]["files"][1], HasSubstr("/quarantine/files/batch-1/slot.bin"));
}

TEST_F(Resume, ListsEveryItemInTheManifest) {
  const auto file = write_config(files_group());
  EXPECT_EQ(start({"run", file}).wait(), kExitDone);
  const auto items = manifest();
  ASSERT_EQ(items.size(), kItems);
  for (std::uint64_t i = 0; i < kItems; ++i) {
    EXPECT_EQ(items[i]["item"], i);
    EXPECT_EQ(items[i]["state"], "done");
    const auto& done = items[i]["groups"]["files"];
    EXPECT_EQ(done["batch"], i / kBatchSize);
    EXPECT_EQ(done["row"], i % kBatchSize);
    EXPECT_EQ(done["attempts"], 1);
  }
}

}  // namespace
}  // namespace tailrace
