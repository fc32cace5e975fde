#include <fstream>
#include <nlohmann/json.hpp>

#include "config/exit_codes.hpp"
#include "tests/ctl/pipeline_fixture.hpp"

namespace tailrace {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A group whose program does `what` with any batch in which item 9 is valid.
class QuarantineCommand : public PipelineFixture {
 protected:
  static constexpr const char* kDie = "kill -9 $PPID; sleep 60";
  static constexpr const char* kFail = "exit 5";

  void write_program(const std::string& what) const {
    std::ofstream(folder_ / "program")
        << "#!/bin/bash\nread -r header\n"
        << "[[ ! -e ${0%/*}/cured && $header == *'\"item\":9,'*'\"valid\":true'* ]] || { cat "
           ">/dev/null; exit 0; }\n"
        << "row=${header#*'\"item\":9,'}; row=${row%%'}'*}\n"
        << "[[ $row != *'\"valid\":true'* ]] || { " << what << "; }\ncat >/dev/null\n";
    std::filesystem::permissions(folder_ / "program", std::filesystem::perms::owner_all);
  }

  [[nodiscard]] std::string config(const std::string& what, bool isolate) const {
    write_program(what);
    return write_config(
        "[[group]]\nname = \"sums\"\nsink = { kind = \"checksum\" }\n"
        "[[group]]\nname = \"fragile\"\nmax_attempts = 2\nprocesses = 2\n" +
        std::string(isolate ? "isolate = true\n" : "") +
        "sink = { kind = \"exec\", command = [\"./program\"] }\n");
  }

  nlohmann::json listed(const std::string& file) {
    auto& list = start({"quarantine", "list", file, "--json"});
    EXPECT_EQ(list.wait(), kExitDone) << list.err();
    return nlohmann::json::parse(list.out())["batches"];
  }
};

TEST_F(QuarantineCommand, TellsWhichDeathsCostABatchItsPlace) {
  const auto file = config(kDie, false);
  auto& run = start({"run", file});
  EXPECT_EQ(run.wait(), kExitSkippedItems) << run.err();
  EXPECT_TRUE(ring_is_gone());
  const auto batches = listed(file);
  ASSERT_EQ(batches.size(), 1U);
  EXPECT_EQ(batches[0]["group"], "fragile");
  EXPECT_EQ(batches[0]["batch"], 2);
  EXPECT_EQ(batches[0]["items"], (std::vector<int>{8, 9, 10, 11}));
  ASSERT_EQ(batches[0]["attempts"].size(), 2U);
  for (const auto& attempt : batches[0]["attempts"]) {
    EXPECT_THAT(attempt["what"], HasSubstr("signal 9"));
    EXPECT_GT(attempt["pid"], 1);
  }
  for (const std::string path : batches[0]["files"]) EXPECT_TRUE(std::filesystem::exists(path)) << path;
  auto& show = start({"quarantine", "show", file, "--batch=2"});
  EXPECT_EQ(show.wait(), kExitDone);
  EXPECT_THAT(show.out(), AllOf(HasSubstr("group fragile, batch 2: 4 items"), HasSubstr("signal 9"),
                                HasSubstr("slot.bin"), HasSubstr("item 11")));
}

TEST_F(QuarantineCommand, SetsOneBadItemAsideWhereItsGroupIsolates) {
  const auto file = config(kDie, true);
  auto& run = start({"run", file});
  EXPECT_EQ(run.wait(), kExitSkippedItems) << run.err();
  EXPECT_TRUE(ring_is_gone());
  const auto batches = listed(file);
  ASSERT_EQ(batches.size(), 1U);
  EXPECT_EQ(batches[0]["items"], (std::vector<int>{9}));
  EXPECT_THAT(batches[0]["reason"], HasSubstr("2 consumers died with it alone"));
}

TEST_F(QuarantineCommand, GetsOverAFirstBatchOfWhichEachItemKills) {
  std::ofstream(folder_ / "program")
      << "#!/bin/bash\nread -r header\n[[ $header != *'\"batch\":0,'* ]] || kill -9 $PPID\ncat >/dev/null\n";
  std::filesystem::permissions(folder_ / "program", std::filesystem::perms::owner_all);
  const auto file = write_config(
      "[[group]]\nname = \"fragile\"\nisolate = true\nsink = { kind = \"exec\", command = [\"./program\"] "
      "}\n");
  auto& run = start({"run", file});
  EXPECT_EQ(run.wait(), kExitSkippedItems) << run.err();
  const auto batches = listed(file);
  ASSERT_EQ(batches.size(), 1U);
  EXPECT_EQ(batches[0]["items"], (std::vector<int>{0, 1, 2, 3}));
}

TEST_F(QuarantineCommand, NamesWhatAnItemFailsWith) {
  const auto file = config(kFail, true);
  auto& run = start({"run", file});
  EXPECT_EQ(run.wait(), kExitSkippedItems) << run.err();
  const auto batches = listed(file);
  ASSERT_EQ(batches.size(), 1U);
  EXPECT_EQ(batches[0]["items"], (std::vector<int>{9}));
  EXPECT_THAT(batches[0]["reason"], HasSubstr("5"));
}

TEST_F(QuarantineCommand, HasItDoneAgainByTheNextRun) {
  const auto file = config(kFail, false);
  EXPECT_EQ(start({"run", file}).wait(), kExitSkippedItems);
  EXPECT_EQ(start({"quarantine", "retry", file, "--group=sums"}).wait(), kExitNoDevice);
  const auto saved = folder_ / ".tailrace" / name_ / "quarantine" / "fragile" / "batch-2";
  auto& retry = start({"quarantine", "retry", file, "--batch=2"});
  EXPECT_EQ(retry.wait(), kExitDone);
  EXPECT_THAT(retry.err(), HasSubstr("4 items will be done again"));
  EXPECT_TRUE(std::filesystem::exists(saved / "slot.bin")) << "it is not done yet";
  std::ofstream(folder_ / "cured") << "\n";
  auto& run = start({"run", file});
  EXPECT_EQ(run.wait(), kExitDone) << run.err();
  EXPECT_TRUE(listed(file).empty());
  EXPECT_FALSE(std::filesystem::exists(saved));
  EXPECT_THAT(run.out(), HasSubstr("42 had been finished before"));
}

TEST_F(QuarantineCommand, HasItDoneAgainByTheRunThatGoesOn) {
  for (const std::string strategy : {"streams", "pool"}) {
    std::filesystem::remove(folder_ / "cured");
    std::filesystem::remove(folder_ / "go");
    write_program(kFail);
    const auto file = write_config(held_group() +
                                   "[[group]]\nname = \"fragile\"\nmax_attempts = 1\nsink = { kind = "
                                   "\"exec\", command = [\"./program\"] }\n");
    auto& run = start({"run", file, "--set=pipeline.state=" + strategy, "--set=egress.strategy=" + strategy});
    const auto quarantine = [&](const std::string& verb) -> StartedProgram& {
      return start({"quarantine", verb, file, "--set=pipeline.state=" + strategy});
    };
    ASSERT_TRUE(eventually([&] {
      auto& show = quarantine("show");
      return show.wait() == kExitDone;
    }));
    std::ofstream(folder_ / "cured") << "\n";
    EXPECT_EQ(quarantine("retry").wait(), kExitDone);
    release();
    EXPECT_EQ(run.wait(), kExitDone) << run.err();
    EXPECT_EQ(quarantine("show").wait(), kExitNoDevice);
    EXPECT_THAT(run.out(), HasSubstr("46 done, 0 skipped, 0 set aside"));
  }
}

TEST_F(QuarantineCommand, WantsAPipelineThatHasRun) {
  for (const std::string verb : {"list", "show", "retry"}) {
    auto& program = start({"quarantine", verb, config(kFail, false)});
    EXPECT_EQ(program.wait(), kExitNoDevice) << verb;
    EXPECT_THAT(program.err(), HasSubstr("has the pipeline run yet?"));
  }
  std::filesystem::create_directories(folder_ / ".tailrace" / name_);
  EXPECT_EQ(start({"quarantine", "list", config(kFail, false)}).wait(), kExitNoDevice);
}

TEST_F(QuarantineCommand, KnowsTheGroupsAndTakesNumbersOnly) {
  const auto file = config(kFail, false);
  EXPECT_EQ(start({"run", file}).wait(), kExitSkippedItems);
  for (const std::string verb : {"list", "show", "retry"}) {
    auto& program = start({"quarantine", verb, file, "--group=fragil"});
    EXPECT_EQ(program.wait(), kExitUsage) << verb;
    EXPECT_THAT(program.err(), HasSubstr("no group 'fragil' (there are: fragile, sums)"));
  }
  for (const std::string wild : {"-1", "1e3", "", "2x", "0x2", "99999999999999999999"})
    EXPECT_EQ(start({"quarantine", "show", file, "--batch=" + wild}).wait(), kExitUsage) << wild;
  for (const std::string far : {"3", "18446744073709551615"})
    EXPECT_EQ(start({"quarantine", "show", file, "--batch=" + far}).wait(), kExitNoDevice) << far;
  EXPECT_EQ(start({"quarantine", "show", file, "--batch=2"}).wait(), kExitDone);
}

TEST_F(QuarantineCommand, LeavesTheTerminalAlone) {
  const auto file = config("printf '\\033[2J\\rgone\\a\\n' >&2; exit 5", true);
  EXPECT_EQ(start({"run", file}).wait(), kExitSkippedItems);
  for (const std::string verb : {"list", "show"}) {
    auto& program = start({"quarantine", verb, file});
    EXPECT_EQ(program.wait(), kExitDone);
    EXPECT_THAT(program.out(), HasSubstr("gone"));
    for (const char c : program.out()) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
  }
}

}  // namespace
}  // namespace tailrace
