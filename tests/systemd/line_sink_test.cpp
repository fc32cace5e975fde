#include "systemd/line_sink.hpp"

#include <gmock/gmock.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/ostream_sink.h>

#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace tailrace {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr std::uint64_t kSecondNs = 1'000'000'000;

class LineSinkTest : public ::testing::Test {
 protected:
  LineSinkTest() {
    auto out = std::make_shared<spdlog::sinks::ostream_sink_mt>(text_);
    out->set_pattern("%l %v");
    sink_ = std::make_shared<LineSink>(std::vector<spdlog::sink_ptr>{out}, [this] { return now_ns_; });
    logger_ = std::make_unique<spdlog::logger>("test", sink_);
  }

  [[nodiscard]] std::vector<std::string> lines() const {
    std::vector<std::string> all;
    std::istringstream stream(text_.str());
    for (std::string line; std::getline(stream, line);) all.push_back(line);
    return all;
  }

  std::uint64_t now_ns_ = 1000 * kSecondNs;
  std::ostringstream text_;
  std::shared_ptr<LineSink> sink_;
  std::unique_ptr<spdlog::logger> logger_;
};

TEST(LineSinkAtBoot, HoldsBackRepeatsBeforeTheClockHasComeAsFarAsTheWindow) {
  std::ostringstream text;
  std::uint64_t now_ns = 0;
  const auto out = std::make_shared<spdlog::sinks::ostream_sink_mt>(text);
  out->set_pattern("%v");
  LineSink sink({out}, [&now_ns] { return now_ns += 1000; });
  for (int i = 0; i < 20; ++i) sink.log({"test", spdlog::level::info, "again"});
  EXPECT_EQ(text.str(), "again\nagain\nagain\nagain\nagain\n");
}

TEST_F(LineSinkTest, EscapesWhateverWouldBreakALineOrDriveATerminal) {
  logger_->info(
      "a\nb\r\tc\x1b[2J\x7f\xc2\x9b"
      "2J \xc3\xa9");
  EXPECT_THAT(lines(), ElementsAre("info a\\nb\\r\\tc\\x1b[2J\\x7f\\x9b2J \xc3\xa9"));
}

TEST_F(LineSinkTest, CountsRepeatsAndSumsThemUpWhenTheirTimeIsOver) {
  for (int i = 0; i < 346; ++i) logger_->warn("the disk is full");
  EXPECT_THAT(lines(), SizeIs(LineSink::kMostRepeats));
  now_ns_ += 30 * kSecondNs;
  logger_->flush();
  ASSERT_THAT(lines(), SizeIs(LineSink::kMostRepeats + 1));
  EXPECT_EQ(lines().back(), "warning … 341 more like this in 30 s: the disk is full");
}

TEST_F(LineSinkTest, BeginsAnewAfterTheSum) {
  for (int i = 0; i < 20; ++i) logger_->warn("again");
  now_ns_ += 31 * kSecondNs;
  logger_->warn("again");
  EXPECT_THAT(lines(), SizeIs(LineSink::kMostRepeats + 2));
  EXPECT_EQ(lines().back(), "warning again");
}

TEST_F(LineSinkTest, SumsUpAtTheEndWhatIsNotOverYet) {
  for (int i = 0; i < 7; ++i) logger_->error("broken");
  sink_->flush_all();
  EXPECT_EQ(lines().back(), "error … 2 more like this in 0 s: broken");
}

TEST_F(LineSinkTest, NeverHoldsBackAnotherText) {
  for (int i = 0; i < 1000; ++i) logger_->info("batch {}", i);
  EXPECT_THAT(lines(), SizeIs(1000));
  EXPECT_THAT(lines(), Each(Not(HasSubstr("more like this"))));
}

TEST_F(LineSinkTest, FindsARepetitionBehindManyOtherLines) {
  for (int i = 0; i < 1000; ++i) logger_->info("batch {}", i);
  for (int i = 0; i < 1000; ++i) logger_->info("the same");
  EXPECT_THAT(lines(), SizeIs(1000 + LineSink::kMostRepeats));
}

}  // namespace
}  // namespace tailrace
