#include <signal.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "config/exit_codes.hpp"
#include "tests/ctl/documented_keys.hpp"
#include "tests/ctl/pipeline_fixture.hpp"

namespace tailrace {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class StatusCommand : public PipelineFixture {
 protected:
  nlohmann::json status(const std::string& interval = "0") {
    auto& program = start({"status", name_, "--json", "--interval", interval});
    EXPECT_EQ(program.wait(), kExitDone) << program.err();
    return nlohmann::json::parse(program.out())["rings"][0];
  }
};

TEST_F(StatusCommand, ShowsRunningFinishedAndDeadRings) {
  // As many batches as slots: all of them get published although nobody is done with one.
  auto& run = start({"run", write_config(files_group() + held_group()), "--set", "source.items=12"});
  wait_until_held();
  ASSERT_TRUE(eventually([&] { return status()["state"] == "finished"; }));
  auto ring = status();
  EXPECT_EQ(ring["name"], name_);
  EXPECT_EQ(ring["batches"], 3);
  EXPECT_EQ(ring["published"], 3);
  EXPECT_EQ(ring["producer"]["alive"], true);
  EXPECT_EQ(ring["drain_requested"], false);
  EXPECT_EQ(ring["groups"][1]["slots"]["leased"], 1);
  EXPECT_EQ(ring["groups"][1]["oldest_lease"]["seq"], 1);
  EXPECT_EQ(ring["groups"][1]["oldest_lease"]["attempt"], 1);

  run.send(SIGINT);
  ASSERT_TRUE(eventually([&] { return status()["drain_requested"] == true; }));
  run.send(SIGINT);
  run.wait();
  ring = status();
  EXPECT_EQ(ring["producer"]["alive"], false);
  for (const auto& consumer : ring["consumers"]) EXPECT_EQ(consumer["alive"], false);
  EXPECT_EQ(ring["groups"][1]["slots"]["leased"], 1) << "what a dead consumer holds";

  auto& text = start({"status"});
  EXPECT_EQ(text.wait(), kExitDone);
  EXPECT_THAT(text.out(), HasSubstr(name_ + ": finished, draining, 3 of 3 batches published"));
  EXPECT_THAT(text.out(), testing::ContainsRegex("oldest lease: slot [0-2] for .* by pid "));
}

TEST_F(StatusCommand, NamesTheGroupThatHoldsTheOthersUpAndWhatItsConsumersAreAt) {
  auto& run = start({"run", write_config(files_group() + held_group())});
  wait_until_held();
  const auto ring = status();
  EXPECT_EQ(ring["groups"][0]["slots"]["held_up"], 0);
  EXPECT_EQ(ring["groups"][1]["slots"]["held_up"], kSlots);
  EXPECT_TRUE(eventually([&] {
    const auto now = status();
    bool as_expected = now["producer"]["activity"] == "slot";
    for (const auto& consumer : now["consumers"])
      as_expected = as_expected && consumer["activity"] == (consumer["group"] == "held" ? "sink" : "waiting");
    return as_expected;
  })) << status();
  auto& text = start({"status", name_});
  EXPECT_EQ(text.wait(), kExitDone);
  EXPECT_THAT(text.out(), HasSubstr("3 wait for this group alone"));
  EXPECT_THAT(text.out(), testing::ContainsRegex("sink for [0-9.]+ m?s"));
  release();
  EXPECT_EQ(run.wait(), kExitDone) << run.err();
}

TEST_F(StatusCommand, HasTheKeysThatItsDocumentLists) {
  auto& run = start({"run", write_config(files_group() + held_group())});
  wait_until_held();
  auto& program = start({"status", name_, "--json"});
  EXPECT_EQ(program.wait(), kExitDone) << program.err();
  EXPECT_EQ(keys_of(nlohmann::json::parse(program.out())),
            documented_keys(std::filesystem::path(TAILRACE_SOURCE_DIR) / "docs/status.md"));
  release();
  EXPECT_EQ(run.wait(), kExitDone) << run.err();
}

TEST_F(StatusCommand, ShowsRatesOnlyWhereItMayLookTwice) {
  auto& run = start({"run", write_config(files_group() + held_group())});
  wait_until_held();
  EXPECT_TRUE(status()["rates"].is_null());
  const auto ring = status("0.2");
  EXPECT_GE(ring["rates"]["interval_s"], 0.2);
  EXPECT_GT(ring["rates"]["stalls"]["slot"], 0.5) << ring.dump(2);
  EXPECT_GT(ring["groups"][1]["rates"]["busy"], 0.9);
  EXPECT_TRUE(ring["rates"]["remaining_s"].is_null()) << "nothing moves";
  release();
  EXPECT_EQ(run.wait(), kExitDone) << run.err();
}

TEST_F(StatusCommand, SaysWhatItCannotRead) {
  std::ofstream(files_.control) << std::string(8192, 'x');
  const auto ring = status();
  EXPECT_EQ(ring["attach"], "incompatible");
  EXPECT_THAT(ring["detail"].get<std::string>(), HasSubstr("is not a ring's"));
  EXPECT_FALSE(ring.contains("state"));
}

TEST_F(StatusCommand, SurvivesFilesThatAreNoFiles) {
  const std::string other = files_.control.string() + ".other";
  std::ofstream(other) << std::string(8192, 'x');
  std::filesystem::create_symlink(other, files_.control);
  EXPECT_EQ(status()["attach"], "incompatible");
  std::filesystem::remove(files_.control);
  std::filesystem::remove(other);
  std::ofstream(files_.control) << "";
  EXPECT_EQ(status()["attach"], "too_small");
  std::filesystem::remove(files_.control);
}

TEST_F(StatusCommand, TellsThatThereIsNoSuchRing) {
  auto& program = start({"status", name_});
  EXPECT_EQ(program.wait(), kExitNoDevice);
  EXPECT_THAT(program.out(), IsEmpty());
}

TEST_F(StatusCommand, RefusesNamesThatAreNone) {
  for (const char* command : {"status", "drain", "clean"})
    for (const std::string& name : {std::string("../x"), std::string(300, 'a'), std::string("a b")}) {
      auto& program = start({command, name});
      EXPECT_EQ(program.wait(), kExitUsage) << command << ' ' << name;
      EXPECT_THAT(program.err(), HasSubstr("cannot name a pipeline"));
    }
}

TEST_F(StatusCommand, SaysThatStdoutIsFull) {
  EXPECT_EQ(start({"status", "--json"}, {"/dev/full", -1}).wait(), kExitIo);
}

}  // namespace
}  // namespace tailrace
