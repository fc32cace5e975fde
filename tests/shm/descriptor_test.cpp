#include "shm/descriptor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>

namespace tailrace {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// A slot on the heap, exactly as long as said, so that AddressSanitizer sees every byte read beyond it.
struct Slot {
  explicit Slot(std::size_t bytes) : size(bytes), memory(new (std::align_val_t(4096)) std::byte[bytes]()) {}
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;
  ~Slot() { ::operator delete[](memory, std::align_val_t(4096)); }
  [[nodiscard]] std::span<std::byte> bytes() const { return {memory, size}; }
  template <typename T>
  void poke(std::size_t offset, T value) const {
    std::memcpy(memory + offset, &value, sizeof value);
  }
  template <typename T>
  [[nodiscard]] T peek(std::size_t offset) const {
    T value;
    std::memcpy(&value, memory + offset, sizeof value);
    return value;
  }
  std::size_t size;
  std::byte* memory;
};

TensorPlan tensor(std::string name, Dtype dtype, std::vector<std::int64_t> sizes, bool per_row) {
  std::vector<std::int64_t> strides(sizes.size());
  std::int64_t stride = 1;
  for (std::size_t d = sizes.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= std::max<std::int64_t>(sizes[d], 1);
  }
  TensorPlan plan{std::move(name), {dtype, std::move(sizes), std::move(strides)}, per_row, 0, 0};
  plan.bytes = span_bytes(plan.shape);
  return plan;
}

std::vector<Row> rows_named(const std::vector<std::string>& names) {
  std::vector<Row> rows;
  for (const std::string& name : names) {
    Row row;
    row.item = UINT64_MAX - rows.size();
    row.name = name;
    row.output_name = std::string("out/").append(std::to_string(rows.size()));
    row.height = 480;
    row.width = 640;
    row.source = {1, 2, 3, 4};
    row.content = {5, 6, 7, INT32_MAX - 6};
    row.skip_reason = rows.size() % 2 == 1 ? std::string("truncated: ").append(name, 0, 99) : "";
    rows.push_back(row);
  }
  return rows;
}

void expect_round_trip(const std::vector<Row>& rows, const std::vector<TensorPlan>& tensors) {
  const SlotPlan plan = plan_slot(rows, tensors);
  const Slot slot(plan.total_bytes);
  write_descriptor(slot.bytes(), BatchNumber{77}, rows, plan);
  const BatchView view = read_descriptor(slot.bytes());
  EXPECT_EQ(view.number, BatchNumber{77});
  EXPECT_EQ(read_batch_number(slot.bytes()), BatchNumber{77});
  ASSERT_EQ(view.rows.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(view.rows[i].item, rows[i].item);
    EXPECT_EQ(view.rows[i].name, rows[i].name);
    EXPECT_EQ(view.rows[i].output_name, rows[i].output_name);
    EXPECT_EQ(view.rows[i].skip_reason, rows[i].skip_reason);
    EXPECT_EQ(view.rows[i].height, rows[i].height);
    EXPECT_EQ(view.rows[i].source, rows[i].source);
    EXPECT_EQ(view.rows[i].content, rows[i].content);
  }
  ASSERT_EQ(view.tensors.size(), tensors.size());
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    EXPECT_EQ(view.tensors[i].name, tensors[i].name);
    EXPECT_EQ(view.tensors[i].shape.dtype, tensors[i].shape.dtype);
    EXPECT_EQ(view.tensors[i].shape.sizes, tensors[i].shape.sizes);
    EXPECT_EQ(view.tensors[i].shape.strides, tensors[i].shape.strides);
    EXPECT_EQ(view.tensors[i].per_row, tensors[i].per_row);
    EXPECT_EQ(view.tensors[i].bytes.size(), tensors[i].bytes);
    const auto offset = static_cast<std::uint64_t>(view.tensors[i].bytes.data() - slot.memory);
    EXPECT_GE(offset, end) << "tensors overlap";
    EXPECT_EQ(offset % kTensorAlignment, 0U);
    end = offset + tensors[i].bytes;
  }
  EXPECT_LE(end, plan.total_bytes);
  EXPECT_EQ(read_used_bytes(slot.bytes()), plan.total_bytes);
}

TEST(Descriptor, CarriesOddNames) {
  expect_round_trip(rows_named({"a b/ü.jpg", "line\nbreak", std::string("nul\0byte", 8), "\xff\xfe", "",
                                std::string(kMaxItemNameBytes, 'x'), "../x", "/absolute"}),
                    {tensor("out", Dtype::kFloat32, {8, 3}, true)});
}

TEST(Descriptor, ThatSaysNothingBelievableUsesTheWholeSlot) {
  std::vector<std::byte> slot(8192);
  EXPECT_EQ(read_used_bytes(slot), slot.size());
  std::fill(slot.begin(), slot.end(), std::byte{0xff});
  EXPECT_EQ(read_used_bytes(slot), slot.size());
}

TEST(Descriptor, CarriesNoRows) { expect_round_trip({}, {tensor("out", Dtype::kInt8, {0, 5}, true)}); }
TEST(Descriptor, CarriesNoTensors) { expect_round_trip(rows_named({"a"}), {}); }

TEST(Descriptor, CarriesSixtyFourTensorsOfEveryDtype) {
  std::vector<TensorPlan> tensors;
  for (std::size_t i = 0; i < kMaxTensors; ++i)
    tensors.push_back(tensor(std::string("t").append(std::to_string(i)), kDtypes[i % kDtypes.size()].dtype,
                             {2, static_cast<std::int64_t>(i)}, true));
  expect_round_trip(rows_named({"a", "b"}), tensors);
}

TEST(Descriptor, CarriesRankZeroAndThirtyTwoAndSizesOfZero) {
  std::vector<std::int64_t> deep(kMaxRank, 1);
  deep[5] = 7;
  expect_round_trip(rows_named({"a"}),
                    {tensor("scalar", Dtype::kFloat64, {}, false), tensor("deep", Dtype::kBool, deep, true),
                     tensor("empty", Dtype::kInt64, {1, 0, 9}, true)});
}

TEST(Descriptor, CarriesTransposedTensors) {
  TensorPlan transposed{"t", {Dtype::kFloat32, {2, 3, 4}, {1, 8, 2}}, true, 24 * 4, 0};
  expect_round_trip(rows_named({"a", "b"}), {transposed});
}

TEST(Descriptor, CarriesRandomBatches) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string> names;
    for (std::size_t i = random() % 20; i-- > 0;) {
      std::string name(random() % 40, '\0');
      for (char& c : name) c = static_cast<char>(random());
      names.push_back(name);
    }
    std::vector<TensorPlan> tensors;
    for (std::size_t i = random() % 5; i-- > 0;) {
      std::vector<std::int64_t> sizes{static_cast<std::int64_t>(names.size())};
      for (std::size_t d = random() % 4; d-- > 0;) sizes.push_back(random() % 6);
      tensors.push_back(tensor(std::string("t").append(std::to_string(i)),
                               kDtypes[random() % kDtypes.size()].dtype, sizes, true));
    }
    expect_round_trip(rows_named(names), tensors);
  }
}

TEST(Descriptor, CarriesStamps) {
  const Slot slot(4096);
  write_stamps(slot.bytes(), {1, 2, 3});
  const StageStamps stamps = read_stamps(slot.bytes());
  EXPECT_EQ(stamps.claimed_ns, 1U);
  EXPECT_EQ(stamps.copied_ns, 2U);
  EXPECT_EQ(stamps.published_ns, 3U);
}

TEST(SlotPlan, RefusesWhatTheFormatCannotHold) {
  EXPECT_THROW(plan_slot({}, std::vector<TensorPlan>(kMaxTensors + 1)), std::invalid_argument);
  EXPECT_THROW(plan_slot({}, {tensor("t", Dtype::kInt8, std::vector<std::int64_t>(kMaxRank + 1, 1), false)}),
               std::invalid_argument);
  EXPECT_THROW(plan_slot(rows_named({std::string(kMaxItemNameBytes + 1, 'x')}), {}), std::invalid_argument);
  EXPECT_THROW(plan_slot({}, {tensor(std::string(kMaxItemNameBytes + 1, 'x'), Dtype::kInt8, {}, false)}),
               std::invalid_argument);
}

TEST(SlotPlan, RefusesStridesThatDoNotMatchTheSizes) {
  TensorPlan plan = tensor("t", Dtype::kInt8, {1}, false);
  plan.shape.strides.assign(4 * kMaxRank, 1);
  EXPECT_THROW(plan_slot({}, {plan}), std::invalid_argument);
}

TEST(SlotPlan, RefusesSumsAndProductsThatOverflow) {
  TensorPlan huge = tensor("t", Dtype::kInt8, {1}, false);
  huge.bytes = INT64_MAX - 100;
  EXPECT_THROW(plan_slot({}, {huge}), std::overflow_error);
  huge.bytes = UINT64_MAX - 100;
  EXPECT_THROW(plan_slot({}, {huge}), std::overflow_error);
  EXPECT_THROW((void)slot_bytes_needed(SIZE_MAX / 2, 4096, {}), std::overflow_error);
  EXPECT_THROW((void)span_bytes({Dtype::kFloat64, {INT64_MAX, INT64_MAX}, {1, 1}}), std::overflow_error);
  EXPECT_THROW((void)span_bytes({Dtype::kInt8, {INT64_MAX}, {INT64_MAX}}), std::overflow_error);
  EXPECT_THROW((void)span_bytes({Dtype::kFloat64, {INT64_MAX / 4}, {1}}), std::overflow_error);
}

TEST(SlotPlan, BoundsWhatABatchOfThatManyRowsTakes) {
  const std::vector<TensorPlan> tensors{tensor("t", Dtype::kFloat32, {3, 5}, true)};
  auto rows = rows_named({"aaaa", "bb", "c"});
  for (Row& row : rows) row.skip_reason.clear();
  EXPECT_GE(slot_bytes_needed(3, 4 + 5, tensors), plan_slot(rows, tensors).total_bytes);
}

TEST(SpanBytes, RefusesNegativeSizesEvenBehindASizeOfZero) {
  EXPECT_THROW((void)span_bytes({Dtype::kInt8, {0, -5}, {1, 1}}), std::invalid_argument);
  EXPECT_THROW((void)span_bytes({Dtype::kInt8, {5}, {-1}}), std::invalid_argument);
  EXPECT_THROW((void)span_bytes({Dtype::kInt8, {5}, {}}), std::invalid_argument);
}

TEST(SpanBytes, RefusesStridesThatOverflowAlsoWithoutElements) {
  constexpr std::int64_t kHuge = INT64_MAX / 2 + 1;
  EXPECT_THROW((void)span_bytes({Dtype::kFloat32, {2, 0}, {kHuge, 1}}), std::overflow_error);
  EXPECT_THROW((void)span_bytes({Dtype::kInt8, {0, 5}, {1, kHuge}}), std::overflow_error);
  EXPECT_EQ(span_bytes({Dtype::kFloat32, {0}, {INT64_MAX}}), 0U);
}

TEST(SlotTooSmall, NamesBothSizesAndWritesNothing) {
  const auto rows = rows_named({"a"});
  const SlotPlan plan = plan_slot(rows, {tensor("t", Dtype::kFloat32, {1, 1000}, true)});
  const Slot slot(plan.total_bytes - 1);
  try {
    write_descriptor(slot.bytes(), BatchNumber{5}, rows, plan);
    FAIL() << "accepted";
  } catch (const SlotTooSmall& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr(std::to_string(plan.total_bytes)),
                                    HasSubstr(std::to_string(plan.total_bytes - 1)), HasSubstr("batch 5")));
  }
  for (const std::byte byte : slot.bytes()) ASSERT_EQ(byte, std::byte{0});
}

// --- hostile bytes; offsets as in docs/memory_layout.md ---

constexpr std::size_t kHeader = 56;
constexpr std::size_t kRow = 96;

class Damaged : public ::testing::Test {
 protected:
  Damaged()
      : plan(plan_slot(rows, {tensor("t", Dtype::kFloat32, {2, 8}, true)})), slot(plan.total_bytes + 64) {
    write_descriptor(slot.bytes(), BatchNumber{1}, rows, plan);
  }
  void expect_refused(const char* field) const {
    try {
      (void)read_descriptor(slot.bytes());
      FAIL() << "accepted a hostile " << field;
    } catch (const DamagedDescriptor& error) {
      EXPECT_THAT(error.what(), HasSubstr(field));
    }
  }
  std::vector<Row> rows = rows_named({"a", "b"});
  SlotPlan plan;
  Slot slot;
  std::size_t tensor_at = kHeader + 2 * kRow;
};

TEST_F(Damaged, RowCountIsRefused) {
  slot.poke(8, UINT32_MAX);
  expect_refused("row_count");
}
TEST_F(Damaged, TensorCountIsRefused) {
  slot.poke(12, std::uint32_t{65});
  expect_refused("tensor_count");
}
TEST_F(Damaged, NamesBytesIsRefused) {
  slot.poke(16, UINT64_MAX);
  expect_refused("names_bytes");
}
TEST_F(Damaged, NamePositionIsRefused) {
  for (const std::uint64_t value : {UINT64_MAX, std::uint64_t{1} << 40}) {
    slot.poke(kHeader + 48, value);
    expect_refused("name at");
  }
}
TEST_F(Damaged, NameLengthIsRefused) {
  slot.poke(kHeader + 56, UINT64_MAX - 1);
  expect_refused("name at");
}
TEST_F(Damaged, NamesThatShareTheirBytesAreRefused) {
  const std::uint64_t all = slot.peek<std::uint64_t>(16);
  for (const std::size_t row : {kHeader, kHeader + kRow}) {
    slot.poke(row + 48, std::uint64_t{0});
    slot.poke(row + 56, all);
  }
  expect_refused("name at");
}
TEST_F(Damaged, NegativeImageSizeIsRefused) {
  slot.poke(kHeader + 8, std::int32_t{-1});
  expect_refused("height");
}
TEST_F(Damaged, RectanglesThatOverflowAreRefused) {
  slot.poke(kHeader + 16, std::int32_t{INT32_MAX});
  expect_refused("source");
}
TEST_F(Damaged, NegativeRectanglesAreRefused) {
  slot.poke(kHeader + 32 + 12, std::int32_t{-4});
  expect_refused("content");
}
TEST_F(Damaged, DtypeIsRefused) {
  slot.poke(tensor_at + 16, std::uint32_t{0});
  expect_refused("dtype");
}
TEST_F(Damaged, RankIsRefused) {
  slot.poke(tensor_at + 20, std::uint32_t{33});
  expect_refused("rank");
}
TEST_F(Damaged, TensorPositionIsRefused) {
  for (const std::uint64_t offset :
       {std::uint64_t{0}, UINT64_MAX, plan.total_bytes, plan.tensors[0].offset + 1}) {
    slot.poke(tensor_at, offset);
    expect_refused("tensor 't' at");
  }
}
TEST_F(Damaged, TensorLengthIsRefused) {
  slot.poke(tensor_at + 8, std::uint64_t{63});
  expect_refused("spans");
}
TEST_F(Damaged, NegativeSizesAreRefused) {
  slot.poke(tensor_at + 48 + 8, std::int64_t{-8});
  expect_refused("sizes");
}
TEST_F(Damaged, RowsThatTheTensorDoesNotHaveAreRefused) {
  slot.poke(tensor_at + 24, std::uint32_t{1});
  slot.poke(tensor_at + 48, std::int64_t{1});
  slot.poke(tensor_at + 8, std::uint64_t{32});
  expect_refused("rows");
}
TEST_F(Damaged, AFewBytesThatStandForManyElementsAreRefused) {
  slot.poke(tensor_at + 48 + 8, std::int64_t{1} << 50);
  slot.poke(tensor_at + 48 + 256 + 8, std::int64_t{0});
  slot.poke(tensor_at + 48 + 256, std::int64_t{8});
  slot.poke(tensor_at + 8, std::uint64_t{9 * 4});
  expect_refused("strides");
}
TEST_F(Damaged, OutputNamesThatLeadOutOfTheFolderAreRefused) {
  for (const char* name : {"../x", "/etc/x", "a/../../x", ".."}) {
    auto bad = rows;
    bad[1].output_name = name;
    const SlotPlan other = plan_slot(bad, {});
    write_descriptor(slot.bytes(), BatchNumber{1}, bad, other);
    expect_refused("output_name");
  }
}

TEST_F(Damaged, RandomMutationsGiveDamageOrViewsInsideTheSlot) {
  std::mt19937 random(11);
  const std::size_t descriptor_bytes =
      plan.tensors[0].offset < slot.size ? plan.tensors[0].offset : slot.size;
  int accepted = 0;
  for (int round = 0; round < 20'000; ++round) {
    write_descriptor(slot.bytes(), BatchNumber{1}, rows, plan);
    for (std::size_t i = random() % 4 + 1; i-- > 0;) {
      const std::size_t used = std::min<std::size_t>(descriptor_bytes, tensor_at + 560 + 64);
      switch (random() % 3) {
        case 0:
          slot.poke(random() % used, static_cast<std::uint8_t>(random()));
          break;
        case 1:
          slot.poke(random() % (used / 8) * 8, std::uint64_t{1} << random() % 64);
          break;
        default:
          slot.poke(random() % (used / 4) * 4, static_cast<std::uint32_t>(random()));
      }
    }
    try {
      const BatchView view = read_descriptor(slot.bytes());
      ++accepted;
      for (const TensorView& t : view.tensors) {
        ASSERT_GE(t.bytes.data(), slot.memory);
        ASSERT_LE(t.bytes.data() + t.bytes.size(), slot.memory + slot.size);
        ASSERT_EQ(t.bytes.size(), span_bytes(t.shape));
      }
    } catch (const DamagedDescriptor&) {
    }
  }
  EXPECT_GT(accepted, 100) << "mutations of names and stamps are harmless";
}

TEST_F(Damaged, ASlotShorterThanItsHeaderIsRefused) {
  EXPECT_THROW((void)read_descriptor(slot.bytes().first(kHeader - 1)), DamagedDescriptor);
  EXPECT_THROW((void)read_descriptor({}), DamagedDescriptor);
}

}  // namespace
}  // namespace tailrace
