#include "producer/sources/image_geometry.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace tailrace {
namespace {

constexpr ImageSize kTarget{.height = 512, .width = 512};
constexpr std::array<ImageSize, 10> kSizes{{{1, 1},
                                            {1, 10000},
                                            {10000, 1},
                                            {512, 512},
                                            {511, 513},
                                            {3000, 4000},
                                            {4000, 3001},
                                            {2, 3},
                                            {10'000'000, 7},
                                            {16384, 16384}}};
constexpr std::array<ImageSize, 4> kTargets{{{512, 512}, {1, 1}, {200, 700}, {1, 1000}}};

bool lies_within(const Rect& rect, ImageSize size) {
  return rect.top >= 0 && rect.left >= 0 && rect.height >= 1 && rect.width >= 1 &&
         rect.top + rect.height <= size.height && rect.left + rect.width <= size.width;
}

TEST(ImageGeometry, FitShowsAllOfTheImageCentred) {
  const ImageGeometry geometry = plan_geometry({3000, 4000}, kTarget, ResizeMode::kFit);
  EXPECT_EQ(geometry.source, (Rect{0, 0, 3000, 4000}));
  EXPECT_EQ(geometry.content, (Rect{64, 0, 384, 512}));
}

TEST(ImageGeometry, FillShowsTheCentreInAllOfTheTarget) {
  const ImageGeometry geometry = plan_geometry({3000, 4000}, kTarget, ResizeMode::kFill);
  EXPECT_EQ(geometry.source, (Rect{0, 500, 3000, 3000}));
  EXPECT_EQ(geometry.content, (Rect{0, 0, 512, 512}));
}

TEST(ImageGeometry, StretchMapsAllToAll) {
  const ImageGeometry geometry = plan_geometry({3000, 4000}, kTarget, ResizeMode::kStretch);
  EXPECT_EQ(geometry.source, (Rect{0, 0, 3000, 4000}));
  EXPECT_EQ(geometry.content, (Rect{0, 0, 512, 512}));
}

TEST(ImageGeometry, IsNeverEmptyNorOutside) {
  for (const ResizeMode mode : {ResizeMode::kFit, ResizeMode::kFill, ResizeMode::kStretch})
    for (const ImageSize original : kSizes)
      for (const ImageSize target : kTargets) {
        const ImageGeometry geometry = plan_geometry(original, target, mode);
        EXPECT_TRUE(lies_within(geometry.source, original)) << original.height << "x" << original.width;
        EXPECT_TRUE(lies_within(geometry.content, target)) << original.height << "x" << original.width;
      }
}

TEST(ImageGeometry, KeepsTheRatioToWithinHalfAPixel) {
  for (const ImageSize original : kSizes)
    for (const ImageSize target : kTargets) {
      const Rect content = plan_geometry(original, target, ResizeMode::kFit).content;
      const double scale =
          std::min(double(target.height) / original.height, double(target.width) / original.width);
      EXPECT_LE(std::abs(content.height - std::max(1.0, original.height * scale)), 0.5001);
      EXPECT_LE(std::abs(content.width - std::max(1.0, original.width * scale)), 0.5001);
    }
}

TEST(ShrinkOnLoad, LeavesTwoDecodedPixelsForEachOne) {
  const auto shrink = [](ImageSize original) {
    return shrink_on_load(plan_geometry(original, kTarget, ResizeMode::kStretch));
  };
  EXPECT_EQ(shrink({2047, 2047}), 1);
  EXPECT_EQ(shrink({2048, 2048}), 2);
  EXPECT_EQ(shrink({4096, 4096}), 4);
  EXPECT_EQ(shrink({8192, 2048}), 2);
  EXPECT_EQ(shrink({16384, 16384}), 8);
  EXPECT_EQ(shrink({100, 100}), 1);
}

TEST(Orientation, OfSixTurnsTheStoredTopToTheRight) {
  const Orientation orientation(6);
  const ImageSize stored{.height = 30, .width = 40};
  EXPECT_EQ(orientation.turned(stored), (ImageSize{40, 30}));
  // The top left corner as people see it is the bottom left one as stored.
  EXPECT_EQ(orientation.to_stored({0, 0, 10, 5}, stored), (Rect{25, 0, 5, 10}));
}

TEST(Orientation, MapsThereAndBack) {
  const ImageSize stored{.height = 30, .width = 41};
  for (int exif = 1; exif <= 8; ++exif) {
    const Orientation orientation(exif);
    const Rect shown{.top = 3, .left = 5, .height = 7, .width = 11};
    const Rect rect = orientation.to_stored(shown, stored);
    EXPECT_TRUE(lies_within(rect, stored));
    EXPECT_EQ(orientation.from_stored(rect, stored), shown) << exif;
  }
}

TEST(Orientation, TakesUnknownValuesAsUpright) {
  EXPECT_EQ(Orientation(0).exif(), 1);
  EXPECT_EQ(Orientation(9).exif(), 1);
}

TEST(SnappedRect, GrowsToTheGridOrTheEdge) {
  EXPECT_EQ(snapped_outwards({3, 5, 10, 20}, 4, {14, 100}), (Rect{0, 4, 14, 24}));
  EXPECT_EQ(snapped_outwards({3, 5, 10, 20}, 1, {14, 100}), (Rect{3, 5, 10, 20}));
}

}  // namespace
}  // namespace tailrace
