#include "producer/upload_queue.hpp"

#include <gmock/gmock.h>

#include <stdexcept>

#include "producer/errors.hpp"
#include "producer/sources/synthetic_source.hpp"
#include "tests/producer/stub_device.hpp"
#include "tests/sources/plain_memory.hpp"

namespace tailrace {
namespace {

using ::testing::ElementsAre;

/// Copies only when asked to wait, as late as a real one may; notes what happened.
class LateUploader final : public Uploader {
 public:
  struct Log {
    std::vector<std::string> lines;
    bool fails = false;
  };
  LateUploader(Log& log, std::size_t lane_count) : log_(log), sources_(lane_count), lanes_(lane_count) {}

  void submit(std::size_t lane, std::span<const std::byte> input) override {
    log_.lines.push_back("submit " + std::to_string(lane));
    sources_[lane] = input;
  }
  std::span<const std::byte> acquire(std::size_t lane) override {
    log_.lines.push_back("acquire " + std::to_string(lane));
    lanes_[lane].assign(sources_[lane].begin(), sources_[lane].end());
    return lanes_[lane];
  }
  void release(std::size_t lane) override { log_.lines.push_back("release " + std::to_string(lane)); }
  std::chrono::nanoseconds wait(std::size_t lane) override {
    log_.lines.push_back("wait " + std::to_string(lane));
    if (log_.fails) throw CudaError("an illegal memory access was encountered");
    return std::chrono::nanoseconds(300);
  }

 private:
  Log& log_;
  std::vector<std::span<const std::byte>> sources_;
  std::vector<std::vector<std::byte>> lanes_;
};

class UploadDevice final : public StubDevice {
 public:
  [[nodiscard]] bool is_cuda() const override { return cuda; }
  std::unique_ptr<HostMemory> allocate(std::size_t bytes) override {
    return std::make_unique<PlainMemory>(bytes);
  }
  std::unique_ptr<Uploader> make_uploader(std::size_t, std::size_t lane_count) override {
    lanes = lane_count;
    return std::make_unique<LateUploader>(log, lane_count);
  }

  bool cuda = true;
  std::size_t lanes = 0;
  LateUploader::Log log;
};

SourceConfig source_of(std::uint64_t batches, bool fixed) {
  SourceConfig config;
  config.items = 4 * batches;
  config.batch_size = 4;
  config.shape = {16};
  config.fixed = fixed;
  return config;
}

class Uploading : public ::testing::Test {
 protected:
  void start(std::uint64_t batches, bool fixed = false) {
    source_ = std::make_unique<SyntheticSource>(source_of(batches, fixed));
    const auto held = static_cast<std::uint32_t>(UploadQueue::held(device_));
    input_ = std::make_unique<InputPipeline>(
        *source_, InputPipelineOptions{.batch_size = 4, .workers = 2, .prefetch = 2, .held = held}, device_);
    queue_ = std::make_unique<UploadQueue>(*input_, device_, counters_);
  }

  /// Bytes of a batch as the source gives them.
  [[nodiscard]] std::vector<std::byte> expected(std::uint64_t number) const {
    std::vector<std::byte> bytes(input_->batch_bytes());
    const std::size_t item_bytes = bytes.size() / 4;
    for (std::size_t r = 0; r < 4; ++r) {
      Row row;
      source_->read(number * 4 + r, std::span(bytes).subspan(r * item_bytes, item_bytes), row);
    }
    return bytes;
  }

  UploadDevice device_;
  CounterBlock counters_{};
  std::unique_ptr<SyntheticSource> source_;
  std::unique_ptr<InputPipeline> input_;
  std::unique_ptr<UploadQueue> queue_;
};

TEST_F(Uploading, GivesEveryBatchInOrderWithItsBytesOnTheDevice) {
  start(20);
  for (std::uint64_t number = 0; number < 20; ++number) {
    const InputBatch* batch = queue_->next();
    ASSERT_NE(batch, nullptr);
    EXPECT_EQ(batch->number, BatchNumber{number});
    const auto bytes = queue_->on_device();
    EXPECT_EQ(std::vector<std::byte>(bytes.begin(), bytes.end()), expected(number));
    queue_->finish();
  }
  EXPECT_EQ(queue_->next(), nullptr);
}

TEST_F(Uploading, HasTwoBatchesUnderWayWhileTheModelWorksOnOne) {
  start(20);
  while (device_.log.lines.size() < 3) {  // the later two as soon as they are decoded
    ASSERT_NE(queue_->next(), nullptr);
    std::this_thread::yield();
  }
  EXPECT_EQ(device_.lanes, 3U);
  EXPECT_THAT(device_.log.lines, ElementsAre("submit 0", "submit 1", "submit 2"));
}

TEST_F(Uploading, ReusesALaneOnlyWhenItsLastCopyHasEndedAndIsCounted) {
  start(4);
  for (int i = 0; i < 4; ++i) {
    ASSERT_NE(queue_->next(), nullptr);
    (void)queue_->on_device();
    queue_->finish();
  }
  const auto& lines = device_.log.lines;
  const auto at = [&](const std::string& line, int nth) {
    for (std::size_t i = 0; i < lines.size(); ++i)
      if (lines[i] == line && nth-- == 0) return i;
    return lines.size();
  };
  EXPECT_LT(at("release 0", 0), at("wait 0", 0));
  EXPECT_LT(at("wait 0", 0), at("submit 0", 1));
  const auto waits =
      std::count_if(lines.begin(), lines.end(), [](const auto& line) { return line.starts_with("wait"); });
  EXPECT_EQ(counters_.stages[static_cast<std::size_t>(Stage::kUpload)].sum_ns,
            300U * static_cast<std::uint64_t>(waits));
}

TEST_F(Uploading, CopiesAFixedBatchOnce) {
  start(9, /*fixed=*/true);
  for (std::uint64_t number = 0; number < 9; ++number) {
    const InputBatch* batch = queue_->next();
    ASSERT_NE(batch, nullptr);
    EXPECT_EQ(batch->rows.at(1).item, number * 4 + 1);
    const auto bytes = queue_->on_device();
    EXPECT_EQ(std::vector<std::byte>(bytes.begin(), bytes.end()), expected(0));
    queue_->finish();
  }
  EXPECT_EQ(std::count(device_.log.lines.begin(), device_.log.lines.end(), "submit 0"), 1);
  EXPECT_EQ(std::count(device_.log.lines.begin(), device_.log.lines.end(), "submit 1"), 0);
}

TEST_F(Uploading, TellsOfACopyThatFailedAndEndsWithoutComplaint) {
  start(20);
  device_.log.fails = true;
  const auto use_up = [this] {
    while (queue_->next() != nullptr) queue_->finish();
  };
  EXPECT_THROW(use_up(), CudaError);
  queue_.reset();
}

TEST_F(Uploading, HoldsOneBatchWhereTheModelReadsHostMemory) {
  device_.cuda = false;
  start(3);
  EXPECT_EQ(UploadQueue::held(device_), 1U);
  for (std::uint64_t number = 0; number < 3; ++number) {
    ASSERT_NE(queue_->next(), nullptr);
    const auto bytes = queue_->on_device();
    EXPECT_EQ(std::vector<std::byte>(bytes.begin(), bytes.end()), expected(number));
    queue_->finish();
  }
}

}  // namespace
}  // namespace tailrace
