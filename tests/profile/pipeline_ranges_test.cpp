#include <map>

#include "config/exit_codes.hpp"
#include "tests/ctl/pipeline_fixture.hpp"
#include "tests/profile/recorded_ranges.hpp"

namespace tailrace {
namespace {

using ::testing::IsSupersetOf;
using testing::RecordedRange;
using ::testing::UnorderedElementsAre;

/// The ranges of one batch by name.
using BatchRanges = std::multimap<std::string, RecordedRange>;

std::vector<std::string> names_of(const BatchRanges& ranges) {
  std::vector<std::string> names;
  for (const auto& [name, range] : ranges) names.push_back(name);
  return names;
}

const RecordedRange& the(const std::string& name, const BatchRanges& ranges) {
  return ranges.find(name)->second;
}

/// What a profiler sees of a whole run, with each way out of the device.
class PipelineRanges : public PipelineFixture, public ::testing::WithParamInterface<const char*> {
 protected:
  /// Runs the pipeline to its end and returns the ranges by batch.
  std::map<std::uint64_t, BatchRanges> run() {
    testing::record_ranges_into(folder_ / "record");
    auto& program =
        start({"run", write_config(files_group()), "--set", std::string("egress.strategy=") + GetParam()});
    EXPECT_EQ(program.wait(), kExitDone) << program.err();
    std::map<std::uint64_t, BatchRanges> batches;
    for (const RecordedRange& range : testing::recorded_ranges(folder_ / "record"))
      batches[range.batch].emplace(range.name, range);
    return batches;
  }
};

TEST_P(PipelineRanges, ShowEachStepOfEachBatchOnce) {
  const auto batches = run();
  std::vector<std::uint64_t> numbers;
  for (const auto& [number, ranges] : batches) {
    numbers.push_back(number);
    EXPECT_THAT(names_of(ranges), UnorderedElementsAre("batch", "get batch", "compute", "copy", "queue"))
        << "batch " << number;
  }
  EXPECT_EQ(numbers, all_batches());
}

TEST_P(PipelineRanges, LieInsideTheirBatchInTheOrderOfItsWay) {
  for (const auto& [number, ranges] : run()) {
    ASSERT_THAT(names_of(ranges), IsSupersetOf({"batch", "get batch", "compute", "copy", "queue"}));
    for (const auto& [name, range] : ranges)
      EXPECT_TRUE(the("batch", ranges).encloses(range)) << name << " of batch " << number;
    EXPECT_LE(the("get batch", ranges).end_ns, the("compute", ranges).begin_ns);
    EXPECT_LE(the("compute", ranges).end_ns, the("queue", ranges).begin_ns);
    EXPECT_LE(the("queue", ranges).begin_ns, the("copy", ranges).end_ns);
  }
}

INSTANTIATE_TEST_SUITE_P(With, PipelineRanges, ::testing::Values("pool", "async", "streams"),
                         [](const auto& strategy) { return std::string(strategy.param); });

}  // namespace
}  // namespace tailrace
