#include <signal.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "config/exit_codes.hpp"
#include "shm/ring_files.hpp"
#include "tests/ctl/bench_fixture.hpp"
#include "tests/ctl/started_program.hpp"

namespace tailrace {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class BenchCommand : public BenchFixture {
 protected:
  /// Strategies in the order in which a producer was started with them, the look for a GPU left out.
  [[nodiscard]] std::vector<std::string> strategies_run() const {
    std::vector<std::string> strategies;
    const std::string key = "--set=egress.strategy=";
    for (const std::string& call : producer_calls())
      if (const auto at = call.find(key); at != std::string::npos)
        strategies.push_back(call.substr(at + key.size(), call.find(' ', at) - at - key.size()));
    return strategies;
  }
};

TEST_F(BenchCommand, LadderMeasuresEachStrategyInTheOrderGiven) {
  use_doubles();
  const Ended ended = bench({"ladder", "--json", "--steps=8", "--strategies=inline,streams,pool"});
  ASSERT_EQ(ended.code, kExitDone) << ended.err;
  EXPECT_THAT(strategies_run(), testing::ElementsAre("inline", "streams", "pool"));
  const json result = json::parse(ended.out);
  EXPECT_EQ(result.at("device"), "cpu");
  EXPECT_EQ(result.at("strategies").at(1).at("strategy"), "streams");
  EXPECT_EQ(result.at("strategies").at(1).at("speedup"), 2.0);
  EXPECT_EQ(result.at("strategies").at(1).at("runs").at(0).at("model"), "double");
  EXPECT_THAT(leftovers(), IsEmpty());
}

TEST_F(BenchCommand, LadderSaysThatSomeItemsGaveNoResult) {
  use_doubles("trap 'exit 3' EXIT");
  const Ended ended = bench({"ladder", "--strategies=pool"});
  EXPECT_EQ(ended.code, kExitDone) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("pool: some items were skipped or set aside"));
}

TEST_F(BenchCommand, NamesAPlaceForTemporaryFilesThatIsNone) {
  const Ended ended = bench({"ladder"}, {"TMPDIR=/no/such place"});
  EXPECT_NE(ended.code, kExitDone);
  EXPECT_THAT(ended.err, HasSubstr("'/no/such place'"));
}

TEST_F(BenchCommand, LadderClimbsFromTheSlowestStrategyUnlessToldOtherwise) {
  EXPECT_THAT(bench({"ladder", "--help"}).out, HasSubstr("inline,workers,pool,async,streams"));
}

TEST_F(BenchCommand, LadderRepeatsTheWholeLadderRatherThanEachStrategy) {
  use_doubles();
  const Ended ended = bench({"ladder", "--repeat=2", "--strategies=pool,async"});
  ASSERT_EQ(ended.code, kExitDone) << ended.err;
  EXPECT_THAT(strategies_run(), testing::ElementsAre("pool", "async", "pool", "async"));
  EXPECT_THAT(ended.out, AllOf(HasSubstr("strategy"), HasSubstr("median of 2")));
}

TEST_F(BenchCommand, LadderAsksForItsWindowAndForThatManyItems) {
  use_doubles();
  ASSERT_EQ(
      bench({"ladder", "--steps=8", "--warmup=3", "--strategies=pool", "--set=source.batch_size=5"}).code,
      kExitDone);
  EXPECT_THAT(producer_calls().back(),
              AllOf(HasSubstr("profile.profile_steps=8"), HasSubstr("profile.warmup_steps=3"),
                    HasSubstr("source.batch_size=5"), HasSubstr("source.items=55"),
                    HasSubstr("pipeline.name=bench-")));
}

TEST_F(BenchCommand, LadderGivesInlineOneProcessForEachGroup) {
  use_doubles();
  std::ofstream(file("p.toml"))
      << "[[group]]\nname = \"a\"\nprocesses = 3\n[[group]]\nname = \"b\"\nprocesses = 2\n";
  const Ended ended = bench({"ladder", file("p.toml").string(), "--strategies=inline,pool"});
  ASSERT_EQ(ended.code, kExitDone) << ended.err;
  EXPECT_THAT(producer_calls().at(0),
              AllOf(HasSubstr("group.a.processes=1"), HasSubstr("group.b.processes=1")));
  EXPECT_THAT(producer_calls().at(1), Not(HasSubstr("processes=")));
}

TEST_F(BenchCommand, LadderWritesResultsBesideThoseOfThePipelineAndRemovesThem) {
  use_doubles(
      "for a; do case $a in --set=group.files.sink.path=*)\n"
      "mkdir -p \"${a#*path=}\" && touch \"${a#*path=}/x.npy\" ;; esac; done");
  std::ofstream(file("p.toml")) << "[[group]]\nname = \"files\"\nsink = { kind = \"npy\", path = \"out\" }\n";
  std::filesystem::create_directory(file("out"));
  std::ofstream(file("out/kept.npy")) << "mine";
  const Ended ended = bench({"ladder", file("p.toml").string(), "--strategies=pool"});
  ASSERT_EQ(ended.code, kExitDone) << ended.err;
  EXPECT_THAT(producer_calls().at(0), HasSubstr(file("out.bench-").string()));
  std::vector<std::string> outputs;
  for (const auto& entry : std::filesystem::directory_iterator(file("")))
    if (entry.path().filename().string().starts_with("out.")) outputs.push_back(entry.path().string());
  EXPECT_THAT(outputs, IsEmpty());
  EXPECT_EQ(content_of(file("out/kept.npy")), "mine");
}

TEST_F(BenchCommand, LinkSetsTheSizeOfABatchTheSlotsAndTheReaders) {
  use_doubles();
  const Ended ended =
      bench({"link", "--json", "--bytes-per-batch=1 MiB", "--slots=3", "--consumers=2", "--steps=8"});
  ASSERT_EQ(ended.code, kExitDone) << ended.err;
  const json result = json::parse(ended.out);
  EXPECT_EQ(result.at("slots"), 3);
  EXPECT_EQ(result.at("consumers"), 2);
  EXPECT_EQ(result.at("batch_bytes"), 1000);  // what the report says
  EXPECT_EQ(result.at("limit"), "memcpy");
  EXPECT_GT(result.at("limit_bytes_per_s"), 0.0);
  EXPECT_THAT(leftovers(), IsEmpty());
}

TEST_F(BenchCommand, LinkSaysThatTheLimitOfACpuIsMemcpy) {
  use_doubles();
  EXPECT_THAT(bench({"link", "--steps=8"}).out, HasSubstr("memcpy by one thread (no GPU, no link)"));
}

TEST_F(BenchCommand, EndsWithTheExitCodeAndTheMessageOfAFailingPipeline) {
  use_doubles("[[ $strategy == pool ]] && { echo 'the double is out of order' >&2; exit 78; }");
  const Ended ended = bench({"ladder", "--strategies=async,pool,streams"});
  EXPECT_EQ(ended.code, kExitConfig);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("the double is out of order"),
                               HasSubstr("pool: its run ended with exit code 78")));
  EXPECT_THAT(strategies_run(), testing::ElementsAre("async", "pool"));
  EXPECT_THAT(ended.out, IsEmpty());
  EXPECT_THAT(leftovers(), IsEmpty());
}

TEST_F(BenchCommand, SaysWhatToDoWhenTheRunWasTooShortForItsWindow) {
  use_doubles("[[ $strategy == pool ]] && exit 0");
  const Ended ended = bench({"ladder", "--strategies=pool"});
  EXPECT_EQ(ended.code, kExitUnexpected);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("35 batches"), HasSubstr("--steps")));
}

TEST_F(BenchCommand, NamesTheFaultOfADamagedReport) {
  use_doubles("[[ $strategy == pool ]] && { echo '{\"strategy\":\"po' > \"$report\"; exit 0; }");
  const Ended ended = bench({"ladder", "--strategies=pool"});
  EXPECT_EQ(ended.code, kExitUnexpected);
  EXPECT_THAT(ended.err, HasSubstr("report.json is no throughput report"));
}

TEST_F(BenchCommand, RefusesAFaultyFileAsRunDoes) {
  use_doubles();
  std::ofstream(file("p.toml")) << "[ring]\nslotz = 3\n";
  const Ended ended = bench({"ladder", file("p.toml").string()});
  EXPECT_EQ(ended.code, kExitConfig);
  EXPECT_THAT(ended.err, HasSubstr("slotz"));
  EXPECT_THAT(producer_calls(), IsEmpty());
}

TEST_F(BenchCommand, RefusesAPlotWithoutGnuplotBeforeAnythingRuns) {
  use_doubles();
  const Ended ended = bench({"ladder", "--plot", file("l.png").string()}, {"PATH=" + file("tmp").string()});
  EXPECT_EQ(ended.code, kExitNoDevice);
  EXPECT_THAT(ended.err, HasSubstr("install gnuplot-nox"));
  EXPECT_THAT(producer_calls(), IsEmpty());
}

/// A gnuplot that draws as this shell command does.
void write_gnuplot(const std::filesystem::path& folder, const std::string& command) {
  std::filesystem::create_directory(folder);
  std::ofstream(folder / "gnuplot") << "#!/bin/bash\n" << command << '\n';
  std::filesystem::permissions(folder / "gnuplot", std::filesystem::perms::owner_all);
}

TEST_F(BenchCommand, DrawsThePlotIntoTheFile) {
  use_doubles();
  write_gnuplot(file("path"), "printf 'picture of '; grep -c streams \"$1\"");
  const auto picture = file("a \"picture\".png");
  const Ended ended = bench({"ladder", "--strategies=streams", "--plot", picture.string()},
                            {"PATH=" + file("path").string() + ":/usr/bin:/bin"});
  ASSERT_EQ(ended.code, kExitDone) << ended.err;
  EXPECT_EQ(content_of(picture), "picture of 1\n");
}

TEST_F(BenchCommand, LeavesNoHalfPlotWhereGnuplotFails) {
  use_doubles();
  write_gnuplot(file("path"), "echo half; exit 3");
  const Ended ended = bench({"ladder", "--strategies=streams", "--plot", file("l.png").string()},
                            {"PATH=" + file("path").string() + ":/usr/bin:/bin"});
  EXPECT_EQ(ended.code, kExitUnexpected);
  EXPECT_THAT(ended.err, HasSubstr("gnuplot ended with exit code 3"));
  EXPECT_THAT(ended.out, HasSubstr("streams")) << "what was measured is told all the same";
  EXPECT_FALSE(exists(file("l.png")));
}

TEST_F(BenchCommand, LeavesNothingBehindAfterCtrlC) {
  use_doubles("trap 'exit 0' TERM; echo $$ > '" + file("pid").string() +
              "'; while :; do read -rt 0.05 <> <(:); done");
  Child& ladder = start({"ladder", "--strategies=pool"});
  pid_t producer = 0;
  ASSERT_TRUE(eventually([&] { return static_cast<bool>(std::ifstream(file("pid")) >> producer); }));
  ladder.send(SIGINT);
  std::optional<int> code;
  ASSERT_TRUE(eventually([&] { return (code = ladder.try_reap()).has_value(); }));
  EXPECT_EQ(code, kExitInterrupted);
  EXPECT_FALSE(is_alive(producer));
  EXPECT_THAT(leftovers(), IsEmpty());
}

TEST_F(BenchCommand, HandoffLeavesNothingBehindAfterSigterm) {
  use_no_producer();
  Child& handoff = start({"handoff", "--rate-batches=100000000"});
  const RingFiles ring("bench-" + std::to_string(handoff.pid()), RingFiles::kControlDirectory);
  ASSERT_TRUE(eventually([&] { return exists(ring.control); }));
  handoff.send(SIGTERM);
  std::optional<int> code;
  ASSERT_TRUE(eventually([&] { return (code = handoff.try_reap()).has_value(); }));
  EXPECT_EQ(code, kExitTerminated);
  EXPECT_THAT(leftovers(), IsEmpty());
}

TEST_F(BenchCommand, HandoffMeasuresTheRingWhereThereIsNoProducerAndNoPython) {
  use_no_producer();
  const Ended ended =
      bench({"handoff", "--json", "--consumers-max=3", "--latency-batches=200", "--rate-batches=1000"},
            {"PATH=" + file("tmp").string()});
  ASSERT_EQ(ended.code, kExitDone) << ended.err;
  const json result = json::parse(ended.out);
  for (const char* figure : {"p50", "p99", "p999"})
    EXPECT_GT(result.at("latency_ns").at(figure), 0) << figure;
  EXPECT_GT(result.at("handovers_per_s"), 0.0);
  EXPECT_THAT(result.at("consumers"), SizeIs(2));
  EXPECT_TRUE(result.at("path").is_null());
  EXPECT_TRUE(result.at("python_queue").is_null());
  EXPECT_THAT(ended.err, AllOf(HasSubstr("there is no tailrace-producer"), HasSubstr("there is no python3")));
  EXPECT_THAT(leftovers(), IsEmpty());
}

TEST_F(BenchCommand, RefusesArgumentsThatMakeNoSense) {
  use_doubles();
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{},
                                             {"ladders"},
                                             {"ladder", "--strategies=pool,steams"},
                                             {"ladder", "--steps=0"},
                                             {"ladder", "--repeat=-1"},
                                             {"link", "--bytes-per-batch=much"},
                                             {"link", "--bytes-per-batch=1 B"},
                                             {"link", "--bytes-per-batch=9000 TiB"},
                                             {"link", "--consumers=256"},
                                             {"handoff", "--slots=0"},
                                             {"handoff", "--rate-batches=0"}}) {
    const Ended ended = bench(arguments);
    EXPECT_EQ(ended.code, kExitUsage) << (arguments.empty() ? "nothing" : arguments.back());
    EXPECT_THAT(ended.err, Not(IsEmpty()));
  }
  EXPECT_THAT(producer_calls(), IsEmpty());
}

}  // namespace
}  // namespace tailrace
