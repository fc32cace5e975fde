#include "producer/profile_window.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace tailrace {
namespace {

using ::testing::ElementsAre;

class Window : public ::testing::Test {
 protected:
  /// Runs `steps` steps; returns what happened between them.
  std::vector<std::string> run(const ProfileConfig& config, int steps) {
    ProfileWindow window(config,
                         {[this] {
                            events_.emplace_back("drain");
                            return drains_;
                          },
                          [this] {
                            events_.emplace_back("sample");
                            return ThroughputSample{.time_ns = 1, .steps = done_};
                          },
                          [this] { events_.emplace_back("start"); }, [this] { events_.emplace_back("stop"); },
                          [this](const Throughput& throughput) {
                            events_.push_back("report " + std::to_string(throughput.steps));
                          }});
    for (int i = 0; i < steps; ++i) {
      window.before_step();
      events_.push_back(std::to_string(i));
      ++done_;
    }
    window.finish();
    return events_;
  }

  std::vector<std::string> events_;
  std::uint64_t done_ = 0;
  bool drains_ = true;
};

TEST_F(Window, MeasuresItsStepsBetweenTwoDrainedBorders) {
  EXPECT_THAT(run({.warmup_steps = 2, .profile_steps = 3, .cooldown_steps = 1, .trace = "", .report = ""}, 7),
              ElementsAre("0", "1", "drain", "start", "sample", "2", "3", "4", "drain", "sample", "report 3",
                          "5", "stop", "6"));
}

TEST_F(Window, WithoutOneTheWholeRunIsMeasured) {
  EXPECT_THAT(run({.warmup_steps = 2, .profile_steps = 0, .cooldown_steps = 1, .trace = "", .report = ""}, 3),
              ElementsAre("sample", "0", "1", "2", "drain", "sample", "report 3"));
}

TEST_F(Window, EndsWithTheRunWhereThatIsShorter) {
  EXPECT_THAT(run({.warmup_steps = 1, .profile_steps = 5, .cooldown_steps = 2, .trace = "", .report = ""}, 3),
              ElementsAre("0", "drain", "start", "sample", "1", "2", "drain", "sample", "report 2", "stop"));
}

TEST_F(Window, OfARunThatEndsInTheWarmupReportsNothing) {
  EXPECT_THAT(run({.warmup_steps = 5, .profile_steps = 5, .cooldown_steps = 0, .trace = "", .report = ""}, 2),
              ElementsAre("0", "1"));
}

TEST_F(Window, ReportsNothingThatAStopHasDisturbed) {
  drains_ = false;
  EXPECT_THAT(run({.warmup_steps = 1, .profile_steps = 1, .cooldown_steps = 0, .trace = "", .report = ""}, 3),
              ElementsAre("0", "drain", "1", "2"));
}

}  // namespace
}  // namespace tailrace
