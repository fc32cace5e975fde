#include "producer/profile/profile_actions.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "tests/producer/stub_device.hpp"
#include "tests/sources/temp_folder.hpp"

namespace tailrace {
namespace {

/// Counts the captures that live.
class CapturedDevice final : public StubDevice {
 public:
  std::unique_ptr<Capture> make_capture() override { return std::make_unique<Counted>(captures); }

  int captures = 0;

 private:
  class Counted final : public Capture {
   public:
    explicit Counted(int& count) : count_(count) { ++count_; }
    ~Counted() override { --count_; }

   private:
    int& count_;
  };
};

class FakeTrace final : public TraceRecorder {
 public:
  struct State {
    bool recording = false;
    bool disk_is_full = false;
  };
  explicit FakeTrace(State& state) : state_(state) {}
  void start() override { state_.recording = true; }
  void stop() override {
    state_.recording = false;
    if (state_.disk_is_full)
      throw std::system_error(ENOSPC, std::generic_category(), "cannot write trace.json");
  }

 private:
  State& state_;
};

class ProfileActions : public ::testing::Test {
 protected:
  ProfileActions() {
    config_.groups.emplace_back();
    outputs_.report = std::make_unique<ProfileFile>(report_, "profile.report");
    outputs_.trace = std::make_unique<FakeTrace>(trace_);
  }
  ProfileWindow::Actions actions() {
    return profile_actions(config_, device_, outputs_, producer_, [] { return true; });
  }

  TempFolder folder_;
  const std::filesystem::path report_ = folder_.path() / "report.json";
  Config config_;
  CapturedDevice device_;
  FakeTrace::State trace_;
  ProfileOutputs outputs_;
  ProducerRecord producer_{};
};

TEST_F(ProfileActions, CaptureSpansTheWindowAndWhatFollowsTheTimelineTheWindow) {
  const auto actions = this->actions();
  EXPECT_EQ(device_.captures, 0);
  actions.on_begin();
  EXPECT_EQ(device_.captures, 1);
  EXPECT_TRUE(trace_.recording);
  actions.on_end({});
  EXPECT_EQ(device_.captures, 1);
  EXPECT_FALSE(trace_.recording);
  actions.on_cooled_down();
  EXPECT_EQ(device_.captures, 0);
}

TEST_F(ProfileActions, CaptureEndsWithARunThatIsCutShort) {
  {
    const auto actions = this->actions();
    actions.on_begin();
  }
  EXPECT_EQ(device_.captures, 0);
}

TEST_F(ProfileActions, WhatCannotBeWrittenDoesNotStopThePipeline) {
  trace_.disk_is_full = true;
  EXPECT_NO_THROW(actions().on_end({}));
  EXPECT_EQ(nlohmann::json::parse(std::ifstream(report_))["steps"], 0)
      << "the report does not depend on the timeline";
  std::filesystem::remove_all(folder_.path());
  EXPECT_NO_THROW(actions().on_end({}));
}

}  // namespace
}  // namespace tailrace
