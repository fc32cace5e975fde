#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "config/exit_codes.hpp"
#include "ledger/database.hpp"
#include "ledger/ledger.hpp"
#include "ledger/transaction.hpp"
#include "tests/ctl/documented_keys.hpp"
#include "tests/ctl/pipeline_fixture.hpp"

namespace tailrace {
namespace {

using testing::AllOf;
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
  const auto file = write_config(files_group() + held_group());
  auto& run = start({"run", file});
  wait_until_held();
  auto& program = start({"status", "--config", file, "--json"});
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

TEST_F(StatusCommand, CountsAttemptsThatFailAsWork) {
  auto& run =
      start({"run", write_config(held_group() + "[[group]]\nname = \"failing\"\nmax_attempts = 1\n"
                                                "sink = { kind = \"exec\", command = [\"/bin/false\"] }\n")});
  wait_until_held();
  // Of each batch the attempt, and setting it aside.
  EXPECT_EQ(status()["groups"][1]["stages"]["sink"]["count"], 2 * kSlots);
  release();
  EXPECT_EQ(run.wait(), kExitSkippedItems) << run.err();
}

TEST_F(StatusCommand, SaysWhatItCannotRead) {
  std::ofstream(files_.control) << std::string(8192, 'x');
  const auto ring = status();
  EXPECT_EQ(ring["attach"], "incompatible");
  EXPECT_THAT(ring["detail"].get<std::string>(), HasSubstr("is not a ring's"));
  EXPECT_FALSE(ring.contains("state"));
}

TEST_F(StatusCommand, TellsARingThatItMayNotReadFromOneThatIsNone) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  std::ofstream(files_.control) << std::string(8192, 'x');
  std::filesystem::permissions(files_.control, std::filesystem::perms::owner_read);
  ASSERT_EQ(seteuid(65534), 0);
  const RingReport ring = report();
  ASSERT_EQ(seteuid(0), 0);
  EXPECT_EQ(ring.access(), "forbidden");
  EXPECT_THAT(ring.detail, AllOf(HasSubstr("Permission denied"), HasSubstr("adduser YOU tailrace")));
  EXPECT_EQ(report().access(), "incompatible");
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

class StatusOfAJob : public StatusCommand {
 protected:
  StatusOfAJob() {
    std::filesystem::create_directories(folder_ / "etc");
    file_ = folder_ / "etc" / (name_ + ".toml");
    std::filesystem::rename(write_config("[[group]]\nname = \"sums\"\nsink = { kind = \"checksum\" }\n"
                                         "[[group]]\nname = \"broken\"\nmax_attempts = 1\n"
                                         "sink = { kind = \"exec\", command = [\"/bin/false\"] }\n"),
                            file_);
  }

  nlohmann::json status_of_job(const std::vector<std::string>& which) {
    std::vector<std::string> arguments{"status", "--json", "--interval=0"};
    arguments.insert(arguments.end(), which.begin(), which.end());
    auto& program = start(arguments);
    EXPECT_EQ(program.wait(), kExitDone) << program.err();
    const auto seen = nlohmann::json::parse(program.out());
    for (const auto& job : seen["jobs"])
      if (job["pipeline"] == name_) return job;
    return nullptr;
  }

  std::filesystem::path file_;
};

TEST_F(StatusOfAJob, TellsWhatWasSetAsideWhenTheRingIsGone) {
  EXPECT_EQ(start({"run", file_}).wait(), kExitSkippedItems);
  ASSERT_TRUE(ring_is_gone());
  const std::string directory = "--directory=" + file_.parent_path().string();
  for (const auto& which :
       std::vector<std::vector<std::string>>{{name_, directory}, {directory}, {"--config", file_.string()}}) {
    const auto job = status_of_job(which);
    EXPECT_EQ(job["complete"], true);
    EXPECT_EQ(job["items"], kItems);
    EXPECT_EQ(job["groups"][0]["done"], kItems);
    EXPECT_EQ(job["groups"][1]["set_aside"], kItems);
    EXPECT_EQ(job["groups"][1]["missing"], 0);
    ASSERT_EQ(job["troubles"].size(), 1U);
  }
  auto& text = start({"status", name_, directory});
  EXPECT_EQ(text.wait(), kExitDone);
  EXPECT_THAT(text.out(), HasSubstr("! group broken has 46 items set aside: `tailrace quarantine list '" +
                                    file_.string() + "' --group broken`"));
}

TEST_F(StatusOfAJob, ReadsTheLedgerOfARunningPipelineThatHasAWriter) {
  std::filesystem::rename(write_config(files_group() + held_group()), file_);
  auto& run = start({"run", file_});
  wait_until_held();
  nlohmann::json job;
  {
    const Ledger writer = Ledger::open((file_.parent_path() / ".tailrace" / name_).string());
    const Transaction writing(writer.database(), Transaction::Kind::kWrite);
    job = status_of_job({"--config", file_.string()});
  }
  EXPECT_EQ(job["complete"], false);
  EXPECT_EQ(job["groups"][0]["done"], kSlots * kBatchSize);
  EXPECT_EQ(job["groups"][1]["missing"], kItems);
  EXPECT_THAT(job["troubles"], IsEmpty());
  release();
  EXPECT_EQ(run.wait(), kExitDone) << run.err();
}

TEST_F(StatusOfAJob, SaysWhyALedgerCannotBeRead) {
  std::filesystem::create_directories(file_.parent_path() / ".tailrace" / name_);
  std::ofstream(file_.parent_path() / ".tailrace" / name_ / "ledger.sqlite") << std::string(4096, 'x');
  const auto job = status_of_job({"--config", file_.string()});
  EXPECT_THAT(job["detail"].get<std::string>(), HasSubstr("ledger.sqlite"));
  EXPECT_FALSE(job.contains("groups"));
  std::ofstream(file_) << "no TOML";
  EXPECT_THAT(status_of_job({"--directory=" + file_.parent_path().string()})["detail"].get<std::string>(),
              HasSubstr(file_.string()));
}

TEST_F(StatusOfAJob, IsNothingBeforeThePipelineHasRun) {
  auto& program = start({"status", "--config", file_.string()});
  EXPECT_EQ(program.wait(), kExitNoDevice);
  EXPECT_THAT(program.err(), HasSubstr("there is no ring of pipeline '" + name_ + "'"));
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
