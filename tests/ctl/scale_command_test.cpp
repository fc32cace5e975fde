#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "config/exit_codes.hpp"
#include "config/service_scale.hpp"
#include "os/unique_fd.hpp"
#include "tests/ctl/started_program.hpp"

namespace tailrace {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

struct Outcome {
  int code = 0;
  std::string out;
  std::string err;
};

/// A folder of pipelines, and a service manager that writes down what it is told.
class ScaleCommand : public testing::Test {
 protected:
  ScaleCommand() {
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "etc");
    fs::create_directories(folder_ / "bin");
    std::ofstream(file()) << "[[group]]\nname = \"masks\"\nprocesses = 2\n";
    manager_says("");
    const std::string path = (folder_ / "bin").string() + ":" + std::getenv("PATH");
    setenv("PATH", path.c_str(), 1);
  }
  ~ScaleCommand() override { fs::remove_all(folder_); }

  /// `listing`: what `list-units` prints; `failing`: the verb that fails.
  void manager_says(const std::string& listing, const std::string& failing = "none") const {
    std::ofstream(folder_ / "listing") << listing;
    const fs::path program = folder_ / "bin/systemctl";
    std::ofstream(program) << "#!/bin/sh\necho \"$*\" >> '" << (folder_ / "calls").string()
                           << "'\ncase $1 in\n  list-units) cat '" << (folder_ / "listing").string()
                           << "' ;;\n  " << failing << ") echo 'Access denied' >&2; exit 4 ;;\nesac\n";
    fs::permissions(program, fs::perms::owner_all);
  }

  [[nodiscard]] fs::path file() const { return folder_ / "etc/seg.toml"; }

  std::unique_ptr<StartedProgram> start(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "scale");
    arguments.insert(arguments.end(), {"--directory", (folder_ / "etc").string()});
    return std::make_unique<StartedProgram>(arguments, folder_, StartedProgram::Output{});
  }

  Outcome scale(const std::vector<std::string>& arguments) const {
    const auto program = start(arguments);
    const int code = program->wait();
    return {code, program->out(), program->err()};
  }

  [[nodiscard]] std::string calls() const { return content_of(folder_ / "calls"); }
  [[nodiscard]] std::optional<std::uint32_t> stored() const {
    return read_scale((folder_ / "etc").string(), "seg", "masks").processes;
  }

 private:
  fs::path folder_ = fs::temp_directory_path() / ("tailrace scale test " + std::to_string(getpid()));
};

constexpr const char* kTwoRun =
    "tailrace@seg.target loaded active active Tailrace pipeline seg\n"
    "tailrace-consumer@seg:masks:1.service loaded active running x\n"
    "tailrace-consumer@seg:masks:2.service loaded active running x\n";

TEST_F(ScaleCommand, StoresTheNumberBeforeItTellsTheManagerAndStartsWhatIsMissing) {
  manager_says(kTwoRun);
  const Outcome outcome = scale({"seg:masks", "4"});
  EXPECT_EQ(outcome.code, kExitDone) << outcome.err;
  EXPECT_EQ(stored(), 4u);
  EXPECT_THAT(calls(), HasSubstr("\ndaemon-reload\nstart tailrace-consumer@seg:masks:3.service "
                                 "tailrace-consumer@seg:masks:4.service\n"));
  EXPECT_THAT(outcome.out, HasSubstr("starting tailrace-consumer@seg:masks:4.service\n"));
}

TEST_F(ScaleCommand, StopsTheNewestFirst) {
  manager_says(kTwoRun);
  EXPECT_EQ(scale({"seg:masks", "0"}).code, kExitDone);
  EXPECT_EQ(stored(), 0u);
  EXPECT_THAT(calls(), HasSubstr("\ndaemon-reload\nstop tailrace-consumer@seg:masks:2.service "
                                 "tailrace-consumer@seg:masks:1.service\n"));
}

TEST_F(ScaleCommand, ADryRunOnlyLooks) {
  manager_says(kTwoRun);
  const Outcome outcome = scale({"seg:masks", "1", "--dry-run"});
  EXPECT_EQ(outcome.code, kExitDone);
  EXPECT_EQ(outcome.out, "would stop tailrace-consumer@seg:masks:2.service\n");
  EXPECT_EQ(stored(), std::nullopt);
  EXPECT_THAT(calls(),
              AllOf(HasSubstr("list-units"), Not(HasSubstr("daemon-reload")), Not(HasSubstr("stop"))));
}

TEST_F(ScaleCommand, OnlyStoresForAPipelineThatIsNotActive) {
  const Outcome outcome = scale({"seg:masks", "3"});
  EXPECT_EQ(outcome.code, kExitDone);
  EXPECT_EQ(stored(), 3u);
  EXPECT_THAT(outcome.out, HasSubstr("tailrace@seg.target is not active: its start starts 3 consumers\n"));
  EXPECT_THAT(calls(), Not(HasSubstr("start ")));
}

TEST_F(ScaleCommand, ADryRunTellsWhatAPipelineThatIsNotActiveWouldStart) {
  const Outcome outcome = scale({"seg:masks", "1", "--dry-run"});
  EXPECT_EQ(outcome.code, kExitDone);
  EXPECT_EQ(outcome.out, "tailrace@seg.target is not active: its start would start 1 consumer\n");
  EXPECT_EQ(stored(), std::nullopt);
}

TEST_F(ScaleCommand, StartsAgainWhatHadFailedTooOften) {
  manager_says(
      "tailrace@seg.target loaded active active x\n"
      "tailrace-consumer@seg:masks:1.service loaded failed failed x\n");
  EXPECT_EQ(scale({"seg:masks", "1"}).code, kExitDone);
  EXPECT_THAT(calls(), HasSubstr("\nreset-failed tailrace-consumer@seg:masks:1.service\n"
                                 "start tailrace-consumer@seg:masks:1.service\n"));
}

TEST_F(ScaleCommand, WaitsForAnotherOneOfTheSamePipelineBeforeItLooks) {
  manager_says(kTwoRun);
  UniqueFd other(open(file().c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(flock(other.get(), LOCK_EX), 0);
  const auto program = start({"seg:masks", "3"});
  EXPECT_TRUE(
      eventually([&] { return program->err().find("another `tailrace scale`") != std::string::npos; }));
  EXPECT_THAT(calls(), IsEmpty());
  other.reset();
  EXPECT_EQ(program->wait(), kExitDone);
  EXPECT_EQ(stored(), 3u);
}

TEST_F(ScaleCommand, PassesOnWhatTheManagerSaysWhereItFails) {
  manager_says(kTwoRun, "start");
  const Outcome outcome = scale({"seg:masks", "3"});
  EXPECT_EQ(outcome.code, kExitUnexpected);
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("Access denied"), HasSubstr("`systemctl start"), HasSubstr("ended with 4")));
}

TEST_F(ScaleCommand, RefusesAPipelineThatIsNotThere) {
  const Outcome outcome = scale({"other:masks", "3"});
  EXPECT_EQ(outcome.code, kExitConfig);
  EXPECT_THAT(outcome.err, HasSubstr("other.toml"));
  EXPECT_THAT(calls(), IsEmpty());
}

TEST_F(ScaleCommand, RefusesAGroupThatIsNotThereAndNamesThoseThatAre) {
  const Outcome outcome = scale({"seg:mask", "3"});
  EXPECT_EQ(outcome.code, kExitConfig);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("no group 'mask'"), HasSubstr("masks")));
  EXPECT_THAT(calls(), IsEmpty());
}

TEST_F(ScaleCommand, RefusesOtherFormsBeforeItLooksAtAnything) {
  for (const char* group : {"seg", "seg:", ":masks", "seg:masks:1", "../seg:masks", "seg:ma sks", ""})
    EXPECT_EQ(scale({group, "3"}).code, kExitUsage) << group;
  for (const char* number : {"-1", "257", "many", "1.5", ""})
    EXPECT_EQ(scale({"seg:masks", number}).code, kExitUsage) << number;
  EXPECT_THAT(calls(), IsEmpty());
}

}  // namespace
}  // namespace tailrace
