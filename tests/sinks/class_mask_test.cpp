#include "consumer/sinks/class_mask.hpp"

#include <cmath>
#include <limits>
#include <random>

#include "consumer/sinks/palette.hpp"
#include "tests/sinks/support.hpp"

namespace tailrace {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::message_of;
using testing::tensor_of;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

Mask mask_of(const TensorView& tensor, std::size_t row = 0) {
  Mask mask;
  read_class_mask({&tensor, strided_view_of(tensor)}, row, mask);
  return mask;
}

/// The mask of one pixel with these scores.
template <typename T>
int class_of(Dtype dtype, const std::vector<T>& scores) {
  return mask_of(tensor_of("out", dtype, {1, static_cast<std::int64_t>(scores.size()), 1, 1}, scores))
      .classes.at(0);
}

TEST(ClassMask, TakesTheHighestScoreOfEveryDtype) {
  EXPECT_EQ(class_of<float>(Dtype::kFloat32, {-3, -1, -2}), 1);
  EXPECT_EQ(class_of<double>(Dtype::kFloat64, {1, 1 + 1e-12, 0}), 1);
  EXPECT_EQ(class_of<std::uint16_t>(Dtype::kBfloat16, {0xbf80, 0x3f80, 0x3f81}), 2);  // -1, 1, 1.0078125
  EXPECT_EQ(class_of<std::uint16_t>(Dtype::kFloat16, {0xc000, 0x0001, 0x0000}), 1);   // -2, smallest, 0
  EXPECT_EQ(class_of<std::int8_t>(Dtype::kInt8, {-128, -5, -7}), 1);
  EXPECT_EQ(class_of<std::uint8_t>(Dtype::kUint8, {3, 200, 100}), 1);
  EXPECT_EQ(class_of<std::int16_t>(Dtype::kInt16, {-300, -299}), 1);
  EXPECT_EQ(class_of<std::uint16_t>(Dtype::kUint16, {1, 65535}), 1);
  EXPECT_EQ(class_of<std::int32_t>(Dtype::kInt32, {INT32_MIN, INT32_MIN, 5}), 2);
  EXPECT_EQ(class_of<std::uint32_t>(Dtype::kUint32, {7, UINT32_MAX, 8}), 1);
  EXPECT_EQ(class_of<std::int64_t>(Dtype::kInt64, {INT64_MAX - 1, INT64_MAX}), 1);
  EXPECT_EQ(class_of<std::uint64_t>(Dtype::kUint64, {UINT64_MAX, UINT64_MAX - 1}), 0);
  EXPECT_EQ(class_of<std::uint8_t>(Dtype::kBool, {0, 1}), 1);
}

TEST(ClassMask, GivesTiesToTheLowestClass) {
  EXPECT_EQ(class_of<float>(Dtype::kFloat32, {0, 2, 2, 1}), 1);
  EXPECT_EQ(class_of<float>(Dtype::kFloat32, {-0.0F, 0.0F}), 0);
  EXPECT_EQ(class_of<std::uint16_t>(Dtype::kBfloat16, {0x8000, 0x0000}), 0);
  EXPECT_EQ(class_of<std::int8_t>(Dtype::kInt8, {-128, -128}), 0);
  EXPECT_EQ(class_of<float>(Dtype::kFloat32, {-kInfinity, -kInfinity}), 0);
  EXPECT_EQ(class_of<float>(Dtype::kFloat32, {1, kInfinity, kInfinity}), 1);
}

TEST(ClassMask, NeverChoosesNanWhileThereIsANumber) {
  EXPECT_EQ(class_of<float>(Dtype::kFloat32, {kNan, -5, kNan, -4}), 3);
  EXPECT_EQ(class_of<float>(Dtype::kFloat32, {kNan, -kInfinity, -kInfinity}), 1);
  EXPECT_EQ(class_of<float>(Dtype::kFloat32, {kNan, kNan, kNan}), 0);
  EXPECT_EQ(class_of<double>(Dtype::kFloat64, {0, std::nan(""), 1}), 2);
  EXPECT_EQ(class_of<std::uint16_t>(Dtype::kFloat16, {0x7e00, 0xfc00}), 1);
}

TEST(ClassMask, HoldsTwoHundredAndFiftySixClasses) {
  std::vector<float> scores(256);
  scores[255] = 1;
  EXPECT_EQ(class_of(Dtype::kFloat32, scores), 255);
  std::vector<std::uint8_t> bytes(256);
  bytes[254] = 1;
  EXPECT_EQ(class_of(Dtype::kUint8, bytes), 254);
}

TEST(ClassMask, IsTheSameForEveryLayoutAndSize) {
  constexpr std::int64_t kClasses = 5, kHeight = 67,
                         kWidth = 93;  // more pixels than a tile, and not a multiple
  std::mt19937 random(1);
  std::vector<float> planes(2 * kClasses * kHeight * kWidth);
  for (float& value : planes) value = static_cast<float>(random() % 50);
  std::vector<float> pixels(planes.size());
  std::vector<float> padded(2 * kClasses * kHeight * (kWidth + 3));
  std::vector<std::uint8_t> expected;
  const auto at = [&](std::int64_t b, std::int64_t c, std::int64_t y, std::int64_t x) {
    return planes[static_cast<std::size_t>(((b * kClasses + c) * kHeight + y) * kWidth + x)];
  };
  for (std::int64_t b = 0; b < 2; ++b)
    for (std::int64_t y = 0; y < kHeight; ++y)
      for (std::int64_t x = 0; x < kWidth; ++x) {
        std::int64_t best = 0;
        for (std::int64_t c = 0; c < kClasses; ++c) {
          pixels[static_cast<std::size_t>(((b * kHeight + y) * kWidth + x) * kClasses + c)] = at(b, c, y, x);
          padded[static_cast<std::size_t>(((b * kClasses + c) * kHeight + y) * (kWidth + 3) + x)] =
              at(b, c, y, x);
          if (at(b, c, y, x) > at(b, best, y, x)) best = c;
        }
        if (b == 1) expected.push_back(static_cast<std::uint8_t>(best));
      }
  const std::vector<std::int64_t> sizes{2, kClasses, kHeight, kWidth};
  constexpr std::int64_t kPlane = kHeight * (kWidth + 3);
  const Mask mask = mask_of(tensor_of("out", Dtype::kFloat32, sizes, planes), 1);
  EXPECT_EQ(mask.height, kHeight);
  EXPECT_EQ(mask.width, kWidth);
  EXPECT_EQ(mask.classes, expected);
  EXPECT_EQ(mask_of(tensor_of("out", Dtype::kFloat32, sizes, pixels,
                              {kClasses * kHeight * kWidth, 1, kWidth * kClasses, kClasses}),
                    1)
                .classes,
            expected);
  EXPECT_EQ(
      mask_of(tensor_of("out", Dtype::kFloat32, sizes, padded, {kClasses * kPlane, kPlane, kWidth + 3, 1}), 1)
          .classes,
      expected);
}

TEST(ClassMask, TakesIntegersAsClasses) {
  const std::vector<std::int64_t> classes{0, 255, 7, 3};
  EXPECT_THAT(mask_of(tensor_of("out", Dtype::kInt64, {1, 2, 2}, classes)).classes,
              ElementsAre(0, 255, 7, 3));
  EXPECT_THAT(mask_of(tensor_of("out", Dtype::kInt64, {1, 1, 2, 2}, classes)).classes,
              ElementsAre(0, 255, 7, 3));
  EXPECT_THAT(mask_of(tensor_of("out", Dtype::kInt64, {1, 2, 2}, classes, {4, 1, 2})).classes,
              ElementsAre(0, 7, 255, 3));
}

TEST(ClassMask, RefusesClassesThatAByteCannotHold) {
  for (const std::int32_t wrong : {-1, 256, INT32_MIN}) {
    const std::vector<std::int32_t> classes{1, wrong};
    EXPECT_THAT(message_of([&] {
                  mask_of(tensor_of("out", Dtype::kInt32, {1, 1, 2}, classes));
                }),
                HasSubstr(std::to_string(wrong)));
  }
}

TEST(ClassMask, RefusesOtherShapesWithNameShapeAndWish) {
  const std::vector<std::byte> bytes(4096);
  const auto refusal = [&](Dtype dtype, std::vector<std::int64_t> sizes) {
    return message_of([&] { mask_of(tensor_of("logits", dtype, sizes, bytes)); });
  };
  const auto complete = AllOf(HasSubstr("'logits'"), HasSubstr("wants"));
  EXPECT_THAT(refusal(Dtype::kFloat32, {1, 2}), complete);
  EXPECT_THAT(refusal(Dtype::kFloat32, {1, 1, 2, 2}), HasSubstr("[1, 1, 2, 2] float32"));
  EXPECT_THAT(refusal(Dtype::kUint8, {1, 257, 2, 2}), complete);
  EXPECT_THAT(refusal(Dtype::kFloat32, {1, 0, 2, 2}), complete);
  EXPECT_THAT(refusal(Dtype::kFloat32, {1, 3, 0, 2}), complete);
  EXPECT_THAT(refusal(Dtype::kFloat32, {1, 2, 2}), complete);
  EXPECT_THAT(refusal(Dtype::kComplex64, {1, 2, 2, 2}), complete);
  EXPECT_THAT(refusal(Dtype::kFloat8E5m2, {1, 2, 2, 2}), complete);
}

Row image_row(std::int32_t height, std::int32_t width, Rect source, Rect content) {
  Row row = testing::row_named(3, "a");
  row.height = height;
  row.width = width;
  row.source = source;
  row.content = content;
  return row;
}

TEST(OriginalSize, DropsThePaddingOfFit) {
  const Mask mask{4, 4, {9, 9, 9, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 9}};
  const Mask original = to_original_size(mask, image_row(4, 8, {0, 0, 4, 8}, {1, 0, 2, 4}), 4, 4);
  EXPECT_EQ(original.height, 4);
  EXPECT_EQ(original.width, 8);
  EXPECT_THAT(original.classes, ElementsAre(1, 1, 2, 2, 3, 3, 4, 4, 1, 1, 2, 2, 3, 3, 4, 4,  //
                                            5, 5, 6, 6, 7, 7, 8, 8, 5, 5, 6, 6, 7, 7, 8, 8));
}

TEST(OriginalSize, MarksWhatFillCroppedAsIgnored) {
  const Mask mask{2, 2, {1, 2, 3, 4}};
  const Mask original = to_original_size(mask, image_row(2, 5, {0, 1, 2, 2}, {0, 0, 2, 2}), 2, 2);
  EXPECT_THAT(original.classes, ElementsAre(255, 1, 2, 255, 255, 255, 3, 4, 255, 255));
}

TEST(OriginalSize, ScalesTheContentToAnOutputThatIsSmallerThanTheInput) {
  const Mask mask{2, 2, {1, 2, 3, 4}};  // output stride 8 of a 16 x 16 input
  const Mask original = to_original_size(mask, image_row(2, 2, {0, 0, 2, 2}, {0, 0, 16, 16}), 16, 16);
  EXPECT_THAT(original.classes, ElementsAre(1, 2, 3, 4));
  const Mask right_half = to_original_size(mask, image_row(2, 2, {0, 0, 2, 2}, {0, 8, 16, 8}), 16, 16);
  EXPECT_THAT(right_half.classes, ElementsAre(2, 2, 4, 4));
}

TEST(OriginalSize, ShrinksAndHoldsOnePixelImages) {
  const Mask mask{4, 4, std::vector<std::uint8_t>(16, 6)};
  EXPECT_THAT(to_original_size(mask, image_row(1, 1, {0, 0, 1, 1}, {0, 0, 4, 4}), 4, 4).classes,
              ElementsAre(6));
  EXPECT_THAT(to_original_size(mask, image_row(3, 2, {0, 0, 3, 2}, {0, 1, 4, 3}), 4, 4).classes, Each(6));
}

TEST(OriginalSize, RefusesRectanglesOutsideTheirImages) {
  const Mask mask{4, 4, std::vector<std::uint8_t>(16)};
  for (const Rect wrong : {Rect{0, 0, 5, 4}, Rect{-1, 0, 4, 4}, Rect{0, 0, 0, 4}, Rect{INT32_MAX, 0, 4, 4},
                           Rect{0, 1, 4, INT32_MAX}}) {
    EXPECT_THROW(to_original_size(mask, image_row(4, 4, wrong, {0, 0, 4, 4}), 4, 4), std::runtime_error);
    EXPECT_THROW(to_original_size(mask, image_row(4, 4, {0, 0, 4, 4}, wrong), 4, 4), std::runtime_error);
  }
  EXPECT_THROW(to_original_size(mask, image_row(INT32_MAX, INT32_MAX, {0, 0, 1, 1}, {0, 0, 4, 4}), 4, 4),
               std::runtime_error);
}

TEST(Palette, UsesTheVocColoursAndHidesBackgroundAndIgnored) {
  const auto pixels = colour_overlay({1, 4, {0, 1, 20, 255}});
  EXPECT_THAT(std::vector(pixels.begin(), pixels.begin() + 4), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(std::vector(pixels.begin() + 4, pixels.begin() + 7), ElementsAre(128, 0, 0));    // aeroplane
  EXPECT_THAT(std::vector(pixels.begin() + 8, pixels.begin() + 11), ElementsAre(0, 64, 128));  // tv monitor
  EXPECT_GT(pixels[7], 0);
  EXPECT_EQ(pixels[15], 0);
}

}  // namespace
}  // namespace tailrace
