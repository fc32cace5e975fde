#include <fstream>
#include <nlohmann/json.hpp>

#include "config/exit_codes.hpp"
#include "tests/ctl/bench_fixture.hpp"

namespace tailrace {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// The benchmarks with real pipelines, as small as they get.
class BenchPipeline : public BenchFixture {
 protected:
  json measured(std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    const Ended ended = bench(arguments);
    EXPECT_EQ(ended.code, kExitDone) << ended.err;
    EXPECT_THAT(leftovers(), IsEmpty());
    return json::parse(ended.out);
  }

  /// An array of this many items of one float32 each.
  void write_array(const std::string& name, std::size_t items) const {
    std::string header =
        "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(items) + ", 1)}";
    header.resize(117, ' ');
    std::ofstream(file(name), std::ios::binary)
        << std::string("\x93NUMPY\x01\x00\x76\x00", 10) << header << '\n'
        << std::string(items * sizeof(float), '\0');
  }
};

TEST_F(BenchPipeline, LadderReportsTheWindowOfEachStrategy) {
  const json result = measured({"ladder", "--strategies=inline,pool,async,streams", "--steps=3", "--warmup=2",
                                "--set=pipeline.device=cpu", "--set=source.batch_size=2",
                                "--set=source.shape=[4]", "--set=model.shape=[256]"});
  ASSERT_THAT(result.at("strategies"), SizeIs(4));
  for (const json& strategy : result.at("strategies")) {
    const json& run = strategy.at("runs").at(0);
    EXPECT_EQ(run.at("strategy"), strategy.at("strategy"));
    EXPECT_EQ(run.at("steps"), 3);
    EXPECT_EQ(run.at("bytes"), 3 * 2 * 256 * 4);
    EXPECT_GT(strategy.at("steps_per_s"), 0.0);
  }
}

TEST_F(BenchPipeline, LadderDoesNotRunALongInputToItsEnd) {
  constexpr std::size_t kItems = 2'000'000;
  write_array("long.npy", kItems);
  std::ofstream(file("p.toml"))
      << "[pipeline]\ndevice = \"cpu\"\n"
         "[source]\nkind = \"arrays\"\npath = \"long.npy\"\nbatch_size = 1\nworkers = 1\n"
         "[model]\nkind = \"synthetic\"\nshape = [4]\n";
  const json result =
      measured({"ladder", file("p.toml").string(), "--strategies=pool", "--steps=4", "--warmup=1"});
  EXPECT_EQ(result.at("strategies").at(0).at("runs").at(0).at("steps"), 4);
}

TEST_F(BenchPipeline, LinkSendsBatchesOfTheSizeAskedFor) {
  const json result =
      measured({"link", "--bytes-per-batch=100 KiB", "--steps=4", "--warmup=1", "--set=pipeline.device=cpu"});
  EXPECT_EQ(result.at("batch_bytes"), 100 * 1024);
  EXPECT_EQ(result.at("run").at("bytes"), 4 * 100 * 1024);
  EXPECT_EQ(result.at("run").at("strategy"), "streams");
  EXPECT_GT(result.at("bytes_per_s"), 0.0);
}

TEST_F(BenchPipeline, HandoffMeasuresTheWholeWayFromTheDevice) {
  const json result = measured({"handoff", "--device=cpu", "--consumers-max=1", "--latency-batches=100",
                                "--rate-batches=100", "--path-batches=100"});
  const json& path = result.at("path");
  EXPECT_THAT(path.at("device").get<std::string>(), HasSubstr("cpu"));
  for (const char* waiting : {"blocking", "spinning"}) {
    const json& submit = path.at(waiting).at("submit_to_lease_ns");
    const json& noticed = path.at(waiting).at("noticed_to_lease_ns");
    EXPECT_GT(noticed.at("p50"), 0) << waiting;
    EXPECT_GE(submit.at("p50"), noticed.at("p50")) << "the copy is a part of the way";
  }
}

TEST_F(BenchPipeline, HandoffPassesOnWhyTheProducerCouldNotStart) {
  const Ended ended = bench({"handoff", "--device=cuda:99", "--consumers-max=1", "--latency-batches=100",
                             "--rate-batches=100", "--path-batches=100"});
  EXPECT_EQ(ended.code, kExitNoDevice);
  EXPECT_THAT(ended.err, HasSubstr("cuda:99"));
  EXPECT_THAT(leftovers(), IsEmpty());
}

}  // namespace
}  // namespace tailrace
