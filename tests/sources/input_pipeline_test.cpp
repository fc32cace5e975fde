#include "producer/input_pipeline.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <functional>
#include <future>
#include <latch>
#include <semaphore>
#include <stdexcept>

#include "producer/sources/synthetic_source.hpp"
#include "tests/sources/plain_memory.hpp"

namespace tailrace {
namespace {

using ::testing::ElementsAre;

SourceConfig small_config() {
  SourceConfig config;
  config.items = 1003;
  config.shape = {33};
  config.batch_size = 10;
  return config;
}

// Items whose reading the test controls; item i holds the byte i.
class ScriptedSource : public Source {
 public:
  explicit ScriptedSource(std::uint64_t items) : items_(items) {
    spec_.item_shape = {1 << 16};  // large enough that every item is a chunk of its own
  }
  [[nodiscard]] const InputSpec& spec() const override { return spec_; }
  [[nodiscard]] std::uint64_t item_count() const override { return items_; }
  void describe(std::uint64_t index, Row& row) const override {
    row = Row{};
    row.item = index;
  }
  void read(std::uint64_t index, std::span<std::byte> bytes, Row& row) const override {
    describe(index, row);
    ++reads;
    if (on_read) on_read(index);
    std::fill(bytes.begin(), bytes.end(), std::byte(index));
  }
  [[nodiscard]] std::size_t max_name_bytes() const override { return 0; }
  [[nodiscard]] std::uint64_t digest() const override { return 0; }
  [[nodiscard]] bool fixed() const override { return is_fixed; }

  std::function<void(std::uint64_t)> on_read;
  bool is_fixed = false;
  mutable std::atomic<int> reads{0};

 private:
  InputSpec spec_;
  std::uint64_t items_;
};

struct SeenBatch {
  std::uint64_t number;
  std::vector<std::uint64_t> items;
  std::vector<std::byte> bytes;

  bool operator==(const SeenBatch&) const = default;
};

std::vector<SeenBatch> drain(InputPipeline& pipeline) {
  std::vector<SeenBatch> seen;
  while (const InputBatch* batch = pipeline.next()) {
    SeenBatch copy{.number = value_of(batch->number), .items = {}, .bytes = {}};
    for (const Row& row : batch->rows) copy.items.push_back(row.item);
    copy.bytes.assign(batch->bytes.begin(), batch->bytes.end());
    seen.push_back(std::move(copy));
    pipeline.release(*batch);
  }
  return seen;
}

TEST(InputPipeline, GivesTheSameBatchesWithOneWorkerOrSixteen) {
  const SyntheticSource source(small_config());
  PlainAllocator allocator;
  InputPipeline one(source, {.batch_size = 10, .workers = 1, .prefetch = 1}, allocator);
  InputPipeline many(source, {.batch_size = 10, .workers = 16, .prefetch = 5}, allocator);
  const std::vector<SeenBatch> batches = drain(one);
  EXPECT_EQ(batches.size(), 101U);
  EXPECT_TRUE(batches == drain(many));
}

TEST(InputPipeline, GivesEveryItemOnceInOrder) {
  const SyntheticSource source(small_config());
  PlainAllocator allocator;
  InputPipeline pipeline(source, {.batch_size = 10, .workers = 4, .prefetch = 3}, allocator);
  std::uint64_t item = 0;
  std::uint64_t number = 0;
  for (const SeenBatch& batch : drain(pipeline)) {
    EXPECT_EQ(batch.number, number++);
    for (const std::uint64_t seen : batch.items) EXPECT_EQ(seen, item++);
  }
  EXPECT_EQ(item, 1003U);
}

TEST(InputPipeline, LeavesOutBatchesThatAreNotInThePlan) {
  const SyntheticSource source(small_config());
  PlainAllocator allocator;
  std::vector<bool> finished(1003, true);
  finished[25] = finished[26] = finished[1001] = false;
  const BatchPlan plan({.position_count = 1003, .batch_size = 10}, finished);
  InputPipeline pipeline(source, {.batch_size = 10, .workers = 4, .prefetch = 3, .plan = &plan}, allocator);
  EXPECT_EQ(pipeline.first_from(BatchNumber{0}), BatchNumber{2});
  const auto batches = drain(pipeline);
  ASSERT_EQ(batches.size(), 2U);
  EXPECT_EQ(batches[0].number, 2U);
  EXPECT_EQ(batches[0].items.front(), 20U) << "a batch keeps all its items";
  EXPECT_THAT(batches[1].items, ElementsAre(1000, 1001, 1002));
}

TEST(InputPipeline, ZeroesTheRestOfAShortLastBatch) {
  const SyntheticSource source(small_config());
  PlainAllocator allocator;
  InputPipeline pipeline(source, {.batch_size = 10, .workers = 2, .prefetch = 1}, allocator);
  const SeenBatch last = drain(pipeline).back();
  EXPECT_THAT(last.items, ElementsAre(1000, 1001, 1002));
  const std::size_t item_bytes = source.spec().item_bytes();
  ASSERT_EQ(last.bytes.size(), 10 * item_bytes);
  for (std::size_t i = 3 * item_bytes; i < last.bytes.size(); ++i) ASSERT_EQ(last.bytes[i], std::byte{0});
}

TEST(InputPipeline, StartsAtTheFirstBatchThatIsWanted) {
  const SyntheticSource source(small_config());
  PlainAllocator allocator;
  InputPipeline pipeline(
      source, {.batch_size = 10, .workers = 2, .prefetch = 2, .first_batch = BatchNumber{99}}, allocator);
  const std::vector<SeenBatch> batches = drain(pipeline);
  ASSERT_EQ(batches.size(), 2U);
  EXPECT_EQ(batches[0].items.front(), 990U);
}

TEST(InputPipeline, EndsAtOnceWhenNothingIsLeft) {
  const ScriptedSource source(4);
  PlainAllocator allocator;
  InputPipeline pipeline(
      source, {.batch_size = 4, .workers = 2, .prefetch = 2, .first_batch = BatchNumber{7}}, allocator);
  EXPECT_EQ(pipeline.next(), nullptr);
}

TEST(InputPipeline, TakesABatchThatIsLargerThanTheInput) {
  const ScriptedSource source(3);
  PlainAllocator allocator;
  InputPipeline pipeline(source, {.batch_size = 8, .workers = 2, .prefetch = 1}, allocator);
  EXPECT_THAT(drain(pipeline).at(0).items, ElementsAre(0, 1, 2));
}

TEST(InputPipeline, LeavesABatchAloneUntilItIsReleased) {
  const ScriptedSource source(40);
  PlainAllocator allocator;
  InputPipeline pipeline(source, {.batch_size = 2, .workers = 4, .prefetch = 2}, allocator);
  const InputBatch* held = pipeline.next();
  ASSERT_NE(held, nullptr);
  for (int i = 0; i < 10; ++i) {
    const InputBatch* batch = pipeline.next();
    ASSERT_NE(batch, nullptr);
    pipeline.release(*batch);
  }
  EXPECT_EQ(held->rows[1].item, 1U);
  for (const std::byte byte : held->bytes.last(1 << 16)) ASSERT_EQ(byte, std::byte{1});
  pipeline.release(*held);
}

TEST(InputPipeline, ReadsNoFurtherAheadThanItsBuffers) {
  ScriptedSource source(100);
  std::counting_semaphore<100> read_count(0);
  source.on_read = [&](std::uint64_t) { read_count.release(); };
  PlainAllocator allocator;
  InputPipeline pipeline(source, {.batch_size = 2, .workers = 4, .prefetch = 2}, allocator);
  ASSERT_EQ(pipeline.buffer_count(), 3U);
  for (int i = 0; i < 6; ++i) read_count.acquire();
  const InputBatch* first = pipeline.next();
  const InputBatch* second = pipeline.next();
  EXPECT_EQ(source.reads, 6) << "both batches are held, the third is decoded, there is no fourth buffer";
  pipeline.release(*second);
  pipeline.release(*first);
}

TEST(InputPipeline, RefusesToWaitForABufferThatTheCallerHolds) {
  const ScriptedSource source(100);
  PlainAllocator allocator;
  InputPipeline pipeline(source, {.batch_size = 2, .workers = 1, .prefetch = 1}, allocator);
  const InputBatch* first = pipeline.next();
  const InputBatch* second = pipeline.next();
  EXPECT_THROW((void)pipeline.next(), std::logic_error);
  pipeline.release(*first);
  EXPECT_THROW(pipeline.release(*first), std::logic_error);
  pipeline.release(*second);
}

TEST(InputPipeline, HandsAWorkersExceptionToTheCaller) {
  ScriptedSource source(100);
  source.on_read = [](std::uint64_t index) {
    if (index == 13) throw std::runtime_error("no more descriptors");
  };
  PlainAllocator allocator;
  InputPipeline pipeline(source, {.batch_size = 4, .workers = 3, .prefetch = 2}, allocator);
  EXPECT_THAT([&] { drain(pipeline); }, testing::ThrowsMessage<std::runtime_error>("no more descriptors"));
}

TEST(InputPipeline, ReturnsFromAWaitWhenAskedToStop) {
  ScriptedSource source(100);
  std::latch reading(1);
  std::promise<void> go_on;
  std::shared_future<void> gate = go_on.get_future().share();
  source.on_read = [&, gate](std::uint64_t index) {
    if (index == 0) reading.count_down();
    gate.wait();
  };
  PlainAllocator allocator;
  InputPipeline pipeline(source, {.batch_size = 4, .workers = 2, .prefetch = 1}, allocator);
  auto waiting = std::async(std::launch::async, [&] { return pipeline.next(); });
  reading.wait();
  pipeline.request_stop();
  EXPECT_EQ(waiting.get(), nullptr) << "while the workers are still busy";
  go_on.set_value();
}

TEST(InputPipeline, StopsAfterTheItemsInHand) {
  ScriptedSource source(100);
  std::latch reading(4);
  std::promise<void> go_on;
  std::shared_future<void> gate = go_on.get_future().share();
  source.on_read = [&, gate](std::uint64_t index) {
    if (index < 4) reading.count_down();
    gate.wait();
  };
  PlainAllocator allocator;
  {
    InputPipeline pipeline(source, {.batch_size = 50, .workers = 4, .prefetch = 1}, allocator);
    reading.wait();
    pipeline.request_stop();
    go_on.set_value();
  }
  EXPECT_EQ(source.reads, 4);
}

TEST(InputPipeline, GivesABatchWithoutWaitingOnlyWhenItIsDecoded) {
  ScriptedSource source(4);
  std::promise<void> go_on;
  std::shared_future<void> gate = go_on.get_future().share();
  source.on_read = [gate](std::uint64_t) { gate.wait(); };
  PlainAllocator allocator;
  InputPipeline pipeline(source, {.batch_size = 2, .workers = 2, .prefetch = 1}, allocator);
  EXPECT_EQ(pipeline.try_next(), nullptr);
  go_on.set_value();
  const InputBatch* first = pipeline.next();
  ASSERT_NE(first, nullptr);
  pipeline.release(*first);
  const InputBatch* second = pipeline.try_next();
  while (second == nullptr) second = pipeline.try_next();
  EXPECT_EQ(second->rows.at(0).item, 2U);
  pipeline.release(*second);
  EXPECT_EQ(pipeline.try_next(), nullptr) << "there are no more";
}

TEST(InputPipeline, ReadsAFixedSourceOncePerBuffer) {
  ScriptedSource source(103);
  source.is_fixed = true;
  PlainAllocator allocator;
  InputPipeline pipeline(source, {.batch_size = 4, .workers = 2, .prefetch = 1}, allocator);
  const std::vector<SeenBatch> batches = drain(pipeline);
  EXPECT_EQ(batches.size(), 26U);
  EXPECT_LE(source.reads, 8 + 3);
  EXPECT_THAT(batches.back().items, ElementsAre(100, 101, 102));
}

TEST(InputPipeline, RefusesABatchWhoseSizeOverflows) {
  class Huge : public ScriptedSource {
   public:
    Huge() : ScriptedSource(1) { huge_.item_shape = {std::int64_t{1} << 40, std::int64_t{1} << 40}; }
    [[nodiscard]] const InputSpec& spec() const override { return huge_; }

   private:
    InputSpec huge_;
  };
  const Huge source;
  PlainAllocator allocator;
  EXPECT_THROW(InputPipeline(source, {}, allocator), std::invalid_argument);
}

}  // namespace
}  // namespace tailrace
