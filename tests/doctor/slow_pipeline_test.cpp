#include <algorithm>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "config/exit_codes.hpp"
#include "tests/ctl/documented_keys.hpp"
#include "tests/failpoints/failpoint_fixture.hpp"

namespace tailrace {
namespace {

constexpr unsigned kJudgedFrom = 10;  // batches

/// A pipeline that is slow on purpose in one way, and what the doctor must call it. `producer`, `consumer`:
/// delays at their failpoints. All but `disk` keep nothing, so that this machine's disk is no matter.
struct SlowPipeline {
  const char* bottleneck;
  const char* how;
  const char* producer;
  const char* consumer;
  unsigned slots = 4;
  const char* interval = "1";
};

std::ostream& operator<<(std::ostream& stream, const SlowPipeline& slow) { return stream << slow.how; }

const SlowPipeline kSlowPipelines[] = {
    {"input", "decoding", "mid_input=delay:40@1", ""},
    {"input", "decoding_before_a_model_half_as_slow", "mid_input=delay:40@1,mid_compute=delay:20@1", ""},
    {"h2d", "upload", "mid_upload=delay:40@1", ""},
    {"compute", "launch", "before_compute=delay:40@1", ""},
    {"nothing", "model", "mid_compute=delay:100@1", ""},
    {"nothing", "model_before_post_processing_half_as_slow", "mid_compute=delay:100@1",
     "after_file=delay:50@1"},
    {"link", "copy", "mid_transfer=delay:40@1", ""},
    {"link", "copy_of_few_slots", "mid_transfer=delay:40@1", "", 2},
    {"consumers", "post_processing", "", "after_file=delay:40@1"},
    {"consumers", "post_processing_after_a_model_half_as_slow", "mid_compute=delay:20@1",
     "after_file=delay:40@1"},
    {"disk", "fsync", "", "mid_sync=delay:40@1"},
    {"disk", "fsync_and_some_work", "mid_compute=delay:10@1", "mid_sync=delay:50@1,after_file=delay:10@1"},
    // Now and then a batch takes as long as ten others.
    {"ring", "bursts", "mid_compute=delay:40@1", "after_file=delay:400@12", 2, "2"},
};

/// What was found of what was wanted; printed at the end where all ran in one process.
struct Hit {
  SlowPipeline wanted;
  std::string found;
  double gain;
};

class HitTable : public testing::Environment {
 public:
  static std::vector<Hit>& hits() {
    static std::vector<Hit> hits;
    return hits;
  }

  void TearDown() override {
    if (hits().size() < 2) return;
    std::cout << std::left << std::setw(50) << "slow on purpose" << std::setw(12) << "is" << std::setw(12)
              << "doctor says"
              << "gain\n";
    for (const Hit& hit : hits())
      std::cout << std::setw(50) << hit.wanted.how << std::setw(12) << hit.wanted.bottleneck << std::setw(12)
                << hit.found << std::fixed << std::setprecision(1) << hit.gain << '\n';
  }
};

// Owned by GoogleTest.
[[maybe_unused]] const testing::Environment* const kHitTable =
    testing::AddGlobalTestEnvironment(new HitTable);

class Examined : public FailpointFixture {
 protected:
  nlohmann::json ask(const std::string& interval) {
    StartedProgram& doctor = start({"doctor", name_, "--json", "--interval", interval});
    EXPECT_EQ(doctor.wait(), kExitDone) << doctor.err();
    return nlohmann::json::parse(doctor.out());
  }

  [[nodiscard]] std::uint64_t committed() const {
    const RingReport ring = report();
    return ring.groups.empty() ? 0 : get(ring.groups[0].counters, Counter::kBatches);
  }
};

class OfASlowPipeline : public Examined, public testing::WithParamInterface<SlowPipeline> {
 protected:
  [[nodiscard]] std::string group_settings() const override {
    return std::string_view(GetParam().bottleneck) == "disk" ? files_group()
                                                             : "[[group]]\nname = \"files\"\n";
  }
};

TEST_P(OfASlowPipeline, NamesWhatIsSlow) {
  const SlowPipeline& slow = GetParam();
  start_producer(slow.producer, {"source.items=400000", "ring.slots=" + std::to_string(slow.slots)});
  start_consumer(slow.consumer);
  ASSERT_TRUE(eventually([&] { return committed() >= std::max(2 * slow.slots, kJudgedFrom); }));
  const auto answer = ask(slow.interval);
  const auto& pipeline = answer["pipelines"][0];
  ASSERT_TRUE(pipeline["not_judged"].is_null()) << pipeline.dump(2);
  const auto& verdict = pipeline["verdict"];
  EXPECT_EQ(verdict["bottleneck"], slow.bottleneck) << verdict.dump(2);
  HitTable::hits().push_back(
      {slow, verdict["bottleneck"], verdict["gain"].is_null() ? 1.0 : verdict["gain"].get<double>()});
}

INSTANTIATE_TEST_SUITE_P(Doctor, OfASlowPipeline, testing::ValuesIn(kSlowPipelines),
                         [](const auto& tested) { return std::string(tested.param.how); });

using OfAPipeline = Examined;

TEST_F(OfAPipeline, HasTheKeysThatItsDocumentLists) {
  start_producer("", {"source.items=400000"});
  start_consumer("after_file=delay:40@1");
  ASSERT_TRUE(eventually([&] { return committed() >= kJudgedFrom; }));
  EXPECT_EQ(keys_of(ask("0.5")),
            documented_keys(std::filesystem::path(TAILRACE_SOURCE_DIR) / "docs/doctor.md"));
}

class OfAFaultyPipeline : public Examined {};

TEST_F(OfAFaultyPipeline, SaysThatItsProducerDied) {
  StartedProgram& producer = start_producer("before_publish=kill@2");
  start_consumer();
  expect_killed(producer);
  const auto pipeline = ask("0.1")["pipelines"][0];
  EXPECT_EQ(pipeline["not_judged"], "no producer is at work");
  EXPECT_TRUE(pipeline["verdict"].is_null());
  EXPECT_THAT(pipeline["troubles"][0].get<std::string>(),
              testing::HasSubstr("(pid " + std::to_string(producer.pid()) + ") died"));
}

TEST_F(OfAFaultyPipeline, SaysThatAGroupHasNoConsumer) {
  start_producer();
  ASSERT_TRUE(eventually([&] { return report().readable() && report().published == kSlots; }));
  const auto pipeline = ask("0.1")["pipelines"][0];
  EXPECT_EQ(pipeline["not_judged"], "group files has no consumer at work");
  EXPECT_THAT(pipeline["troubles"][0].get<std::string>(),
              testing::HasSubstr("tailrace scale " + name_ + ":files 1"));
}

TEST_F(OfAFaultyPipeline, SaysWhichOneIsNotThere) {
  StartedProgram& doctor = start({"doctor", name_, "--interval", "0.1"});
  EXPECT_EQ(doctor.wait(), kExitNoDevice);
  EXPECT_THAT(doctor.out(), testing::HasSubstr("machine:")) << "it can look at the machine all the same";
  EXPECT_THAT(doctor.err(), testing::HasSubstr("there is no ring of pipeline '" + name_ + "'"));
}

}  // namespace
}  // namespace tailrace
