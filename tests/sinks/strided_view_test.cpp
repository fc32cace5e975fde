#include "consumer/sinks/strided_view.hpp"

#include "tests/sinks/support.hpp"

namespace tailrace {
namespace {

using ::testing::HasSubstr;
using testing::message_of;
using testing::tensor_of;

std::string logical_bytes(const StridedView& view) {
  std::string bytes;
  for_each_piece(view, [&](std::span<const std::byte> piece) {
    bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    return true;
  });
  return bytes;
}

/// Element by element, without any shortcut.
std::string expected_bytes(const StridedView& view, std::size_t dimension = 0, std::int64_t offset = 0) {
  const auto bytes = static_cast<std::int64_t>(view.element_bytes);
  if (dimension == view.sizes.size())
    return {reinterpret_cast<const char*>(view.data) + offset * bytes, view.element_bytes};
  std::string result;
  for (std::int64_t i = 0; i < view.sizes[dimension]; ++i)
    result += expected_bytes(view, dimension + 1, offset + i * view.strides[dimension]);
  return result;
}

std::vector<std::uint8_t> counted_bytes(std::size_t count) {
  std::vector<std::uint8_t> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<std::uint8_t>(i * 7 + i / 251);
  return values;
}

struct Case {
  const char* name;
  Dtype dtype;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;
};

class StridedViewOrder : public ::testing::TestWithParam<Case> {};

TEST_P(StridedViewOrder, IsRowMajorWhateverTheStrides) {
  const auto values = counted_bytes(1 << 20);
  const StridedView view =
      strided_view_of(tensor_of("t", GetParam().dtype, GetParam().sizes, values, GetParam().strides));
  EXPECT_EQ(logical_bytes(view), expected_bytes(view));
  EXPECT_EQ(logical_bytes(view).size(), view.byte_count());
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, StridedViewOrder,
    ::testing::Values(Case{"Contiguous", Dtype::kFloat32, {3, 4, 5}, {20, 5, 1}},
                      Case{"ChannelsLast", Dtype::kFloat32, {2, 21, 30, 31}, {19530, 1, 651, 21}},
                      Case{"Transposed", Dtype::kFloat64, {70, 90}, {1, 70}},
                      Case{"TransposedWithPadding", Dtype::kFloat32, {3, 7, 200}, {1700, 1, 8}},
                      Case{"TransposedHalf", Dtype::kFloat16, {300, 301}, {1, 300}},
                      Case{"TransposedBytes", Dtype::kBool, {300, 301}, {1, 300}},
                      Case{"TransposedComplex", Dtype::kComplex128, {30, 301}, {1, 30}},
                      Case{"Expanded", Dtype::kFloat32, {4, 3, 5}, {0, 5, 1}},
                      Case{"ExpandedInside", Dtype::kInt16, {4, 30000}, {1, 0}},
                      Case{"SlicedColumns", Dtype::kFloat32, {100, 7}, {10, 1}},
                      Case{"SlicedLongLines", Dtype::kFloat32, {9, 2000}, {2500, 1}},
                      Case{"EveryOther", Dtype::kUint8, {40000}, {2}},
                      Case{"OddlyStridedOne", Dtype::kFloat32, {1, 6, 1}, {999, 1, 999}},
                      Case{"Scalar", Dtype::kFloat64, {}, {}}, Case{"Empty", Dtype::kFloat32, {0, 5}, {5, 1}},
                      Case{"EmptyInside", Dtype::kFloat32, {5, 0, 3}, {0, 3, 1}},
                      Case{"ThirtyTwoDimensions",
                           Dtype::kInt32,
                           {1, 2, 1, 1, 2, 1, 1, 1, 3, 1, 1, 1, 1, 1, 1, 1,
                            1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2},
                           {0, 1, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0,
                            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 12}}),
    [](const auto& parameter) { return std::string(parameter.param.name); });

TEST(StridedView, HandsOutOneContiguousPieceWithoutCopying) {
  const auto values = counted_bytes(1 << 20);
  const StridedView view = strided_view_of(tensor_of("t", Dtype::kUint8, {4, 262144}, values));
  int pieces = 0;
  for_each_piece(view, [&](std::span<const std::byte> piece) {
    ++pieces;
    EXPECT_EQ(piece.data(), view.data);
    return true;
  });
  EXPECT_EQ(pieces, 1);
}

TEST(StridedView, HandsOutEveryElementWhereOverlapsAndGapsMakeUpForEachOther) {
  // Offsets 0 1 1 2 5 6 6 7: eight elements within eight, but not the same.
  const auto values = counted_bytes(8);
  const StridedView view = strided_view_of(tensor_of("t", Dtype::kUint8, {2, 2, 2}, values, {5, 1, 1}));
  std::string stored;
  (void)for_each_stored_piece(view, [&](std::span<const std::byte> piece) {
    stored.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    return true;
  });
  EXPECT_EQ(stored, expected_bytes(view));
}

TEST(StridedView, DoesNotBelieveAStrideThatIsNeverWalked) {
  const auto values = counted_bytes(4);
  const StridedView view =
      strided_view_of(tensor_of("t", Dtype::kUint8, {1, 4, 1}, values, {INT64_MAX / 2, 1, INT64_MAX}));
  EXPECT_EQ(view.strides, (std::vector<std::int64_t>{0, 1, 0}));
}

TEST(StridedView, StopsWhenNoMoreIsWanted) {
  const auto values = counted_bytes(1 << 20);
  int pieces = 0;
  EXPECT_FALSE(for_each_piece(strided_view_of(tensor_of("t", Dtype::kUint8, {400, 500}, values, {1000, 2})),
                              [&](auto) { return ++pieces < 2; }));
  EXPECT_EQ(pieces, 2);
}

TEST(StridedView, TurnsLargeTransposedTensorsInSeveralPieces) {
  constexpr std::int64_t kClasses = 12, kPixels = 500'000;
  std::vector<std::int32_t> values(kClasses * kPixels);
  std::iota(values.begin(), values.end(), 0);
  std::int64_t position = 0;
  int pieces = 0;
  for_each_piece(strided_view_of(tensor_of("t", Dtype::kInt32, {kClasses, kPixels}, values, {1, kClasses})),
                 [&](std::span<const std::byte> piece) {
                   ++pieces;
                   for (; !piece.empty(); piece = piece.subspan(4), ++position) {
                     std::int32_t value = 0;
                     std::memcpy(&value, piece.data(), 4);
                     if (value != position % kPixels * kClasses + position / kPixels) return false;
                   }
                   return true;
                 });
  EXPECT_EQ(position, kClasses * kPixels);
  EXPECT_GT(pieces, 1);
}

TEST(StridedView, RefusesShapesThatReachBeyondTheBytes) {
  const std::vector<float> values(6);
  EXPECT_THAT(message_of([&] {
                strided_view_of(tensor_of("scores", Dtype::kFloat32, {2, 3}, values, {4, 1}));
              }),
              HasSubstr("'scores'"));
  const std::int64_t huge = std::int64_t{1} << 62;
  EXPECT_THROW(strided_view_of(tensor_of("t", Dtype::kFloat32, {huge, huge}, values, {1, 1})),
               std::runtime_error);
  EXPECT_THROW(strided_view_of(tensor_of("t", Dtype::kFloat32, {huge, 2}, values, {0, 1})),
               std::runtime_error);
  EXPECT_THROW(strided_view_of(tensor_of("t", Dtype::kFloat32, {3, 2}, values, {huge, 1})),
               std::runtime_error);
  EXPECT_THROW(strided_view_of(tensor_of("t", Dtype::kFloat32, {-1}, values, {1})), std::runtime_error);
  EXPECT_THROW(strided_view_of(tensor_of("t", Dtype::kFloat32, {2}, values, {-1})), std::runtime_error);
  EXPECT_THROW(strided_view_of(tensor_of("t", Dtype::kFloat32, {2}, values, {1, 1})), std::runtime_error);
}

}  // namespace
}  // namespace tailrace
