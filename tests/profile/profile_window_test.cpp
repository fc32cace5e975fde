#include "producer/profile/profile_window.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace tailrace {
namespace {

using ::testing::ElementsAre;

ProfileConfig steps_of(std::uint32_t warmup, std::uint32_t profile, std::uint32_t cooldown) {
  ProfileConfig config;
  config.warmup_steps = warmup;
  config.profile_steps = profile;
  config.cooldown_steps = cooldown;
  return config;
}

class Window : public ::testing::Test {
 protected:
  /// Runs `steps` steps; returns what happened between them.
  std::vector<std::string> run(const ProfileConfig& config, int steps) {
    ProfileWindow window(
        config, {[this] {
                   events_.emplace_back("drain");
                   return drains_;
                 },
                 [this] {
                   events_.emplace_back("sample");
                   ThroughputSample sample;
                   sample.steps = done_;
                   return sample;
                 },
                 [this] { events_.emplace_back("begin"); },
                 [this](const Throughput& throughput) {
                   events_.push_back("end " + std::to_string(throughput.steps));
                 },
                 [this] { events_.emplace_back("cool"); }, [this] { events_.emplace_back("missed"); }});
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
  EXPECT_THAT(run(steps_of(2, 3, 1), 7), ElementsAre("0", "1", "drain", "begin", "sample", "2", "3", "4",
                                                     "drain", "sample", "end 3", "5", "cool", "6"));
}

TEST_F(Window, WithoutOneTheWholeRunIsMeasured) {
  EXPECT_THAT(run(steps_of(2, 0, 1), 3), ElementsAre("sample", "0", "1", "2", "drain", "sample", "end 3"));
}

TEST_F(Window, EndsWithTheRunWhereThatIsShorter) {
  EXPECT_THAT(run(steps_of(1, 5, 2), 3),
              ElementsAre("0", "drain", "begin", "sample", "1", "2", "drain", "sample", "end 2", "cool"));
}

TEST_F(Window, OfARunThatEndsWithTheWarmupReportsNothingAndSaysSo) {
  EXPECT_THAT(run(steps_of(5, 5, 0), 2), ElementsAre("0", "1", "missed"));
}

TEST_F(Window, ReportsNothingThatAStopHasDisturbed) {
  drains_ = false;
  EXPECT_THAT(run(steps_of(1, 1, 0), 3), ElementsAre("0", "drain", "1", "2", "missed"));
}

}  // namespace
}  // namespace tailrace
