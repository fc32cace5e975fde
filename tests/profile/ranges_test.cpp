#include "producer/profile/ranges.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <optional>
#include <thread>
#include <utility>

#include "tests/profile/recorded_ranges.hpp"
#include "tests/shm/support.hpp"

namespace tailrace {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using testing::RecordedRange;

/// What a tool that is attached to this process sees. NVTX looks for one at its first call and never again,
/// so all tests of the program share the record.
class Ranges : public ::testing::Test {
 protected:
  Ranges() {
    testing::record_ranges_into(folder().path() / "record");
    std::ofstream(folder().path() / "record");  // emptied; the recorder appends
  }

  static std::vector<RecordedRange> recorded() {
    return testing::recorded_ranges(folder().path() / "record");
  }

 private:
  static const testing::TempFolder& folder() {
    static const testing::TempFolder folder;
    return folder;
  }
};

auto is_range(const std::string& name, std::uint32_t argb, std::uint64_t batch) {
  return AllOf(Field("name", &RecordedRange::name, name), Field("argb", &RecordedRange::argb, argb),
               Field("batch", &RecordedRange::batch, batch));
}

TEST_F(Ranges, HaveTheirNamesAndColoursAndTheNumberOfTheBatch) {
  constexpr std::uint64_t kLarge = 0xFEDC'BA98'7654'3210;
  { const BatchRange range(BatchNumber{0}); }
  { const ScopedRange range(RangeKind::kGetBatch, BatchNumber{1}); }
  { const ScopedRange range(RangeKind::kCompute, BatchNumber{2}); }
  { const ScopedRange range(RangeKind::kCopy, BatchNumber{3}); }
  { const ScopedRange range(RangeKind::kQueue, BatchNumber{kLarge}); }
  EXPECT_THAT(recorded(), ElementsAre(is_range("batch", 0xFF0000FF, 0), is_range("get batch", 0xFFFF0000, 1),
                                      is_range("compute", 0xFF008000, 2), is_range("copy", 0xFFFFFF00, 3),
                                      is_range("queue", 0xFF00FFFF, kLarge)));
}

TEST_F(Ranges, OfAThreadNest) {
  {
    const ScopedRange outer(RangeKind::kCompute, BatchNumber{7});
    const ScopedRange inner(RangeKind::kQueue, BatchNumber{7});
  }
  const auto ranges = recorded();
  ASSERT_EQ(ranges.size(), 2U);
  EXPECT_EQ(ranges[0].name, "queue");
  EXPECT_EQ(ranges[0].depth, 1U);
  EXPECT_EQ(ranges[1].depth, 0U);
  EXPECT_TRUE(ranges[1].encloses(ranges[0]));
}

TEST_F(Ranges, OfTwoThreadsDoNotTouchEachOther) {
  {
    const ScopedRange here(RangeKind::kCompute, BatchNumber{2});
    std::thread([] { const ScopedRange there(RangeKind::kCopy, BatchNumber{1}); }).join();
  }
  const auto ranges = recorded();
  ASSERT_EQ(ranges.size(), 2U);
  EXPECT_THAT(ranges[0], is_range("copy", 0xFFFFFF00, 1));
  EXPECT_EQ(ranges[0].depth, 0U);
  EXPECT_NE(ranges[0].begin_thread, ranges[1].begin_thread);
}

TEST_F(Ranges, OfABatchMayBeEndedByAnotherThread) {
  BatchRange range(BatchNumber{5});
  std::thread([moved = std::move(range)]() mutable { moved.end(); }).join();
  const auto ranges = recorded();
  ASSERT_EQ(ranges.size(), 1U);
  EXPECT_THAT(ranges[0], is_range("batch", 0xFF0000FF, 5));
  EXPECT_NE(ranges[0].begin_thread, ranges[0].end_thread);
}

TEST_F(Ranges, OfBatchesMayOverlap) {
  std::optional<BatchRange> first(BatchNumber{1});
  std::optional<BatchRange> second(BatchNumber{2});
  first.reset();
  second.reset();
  EXPECT_THAT(recorded(), ElementsAre(is_range("batch", 0xFF0000FF, 1), is_range("batch", 0xFF0000FF, 2)));
}

TEST_F(Ranges, OfABatchEndOnceHoweverTheyAreMoved) {
  {
    BatchRange range(BatchNumber{1});
    BatchRange moved(std::move(range));
    BatchRange other(BatchNumber{2});
    other = std::move(moved);  // batch 2 ends here
    other.end();
    other.end();
    range = BatchRange(BatchNumber{3});
  }
  EXPECT_THAT(recorded(), ElementsAre(Field(&RecordedRange::batch, 2), Field(&RecordedRange::batch, 1),
                                      Field(&RecordedRange::batch, 3)));
}

TEST_F(Ranges, ThatDoNotBelongToABatchAreNotRecorded) {
  { const BatchRange none; }
  EXPECT_THAT(recorded(), ::testing::IsEmpty());
}

}  // namespace
}  // namespace tailrace
