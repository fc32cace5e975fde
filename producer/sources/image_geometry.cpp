#include "producer/sources/image_geometry.hpp"

#include <algorithm>
#include <utility>

namespace tailrace {
namespace {

Rect whole(ImageSize size) { return {.top = 0, .left = 0, .height = size.height, .width = size.width}; }

Rect centred(ImageSize inner, ImageSize outer) {
  return {.top = (outer.height - inner.height) / 2,
          .left = (outer.width - inner.width) / 2,
          .height = inner.height,
          .width = inner.width};
}

// length * numerator / denominator, rounded, within 1 … limit.
std::int32_t scaled(std::int32_t length, std::int32_t numerator, std::int32_t denominator,
                    std::int32_t limit) {
  const std::int64_t product = std::int64_t{length} * numerator;
  const std::int64_t rounded = (product + denominator / 2) / denominator;
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(rounded, 1, limit));
}

bool is_wider(ImageSize a, ImageSize b) {
  return std::int64_t{a.width} * b.height > std::int64_t{b.width} * a.height;
}

// The largest size with the ratio of `shape` that fits into `frame`.
ImageSize inscribed(ImageSize shape, ImageSize frame) {
  if (is_wider(shape, frame))
    return {.height = scaled(shape.height, frame.width, shape.width, frame.height), .width = frame.width};
  return {.height = frame.height, .width = scaled(shape.width, frame.height, shape.height, frame.width)};
}

Rect swapped(Rect rect) {
  std::swap(rect.top, rect.left);
  std::swap(rect.height, rect.width);
  return rect;
}

}  // namespace

ImageGeometry plan_geometry(ImageSize original, ImageSize target, ResizeMode mode) {
  ImageGeometry geometry{.source = whole(original), .content = whole(target)};
  if (mode == ResizeMode::kFit) geometry.content = centred(inscribed(original, target), target);
  if (mode == ResizeMode::kFill) geometry.source = centred(inscribed(target, original), original);
  return geometry;
}

std::int32_t shrink_on_load(const ImageGeometry& geometry) {
  const std::int32_t reduction = std::min(geometry.source.height / geometry.content.height,
                                          geometry.source.width / geometry.content.width);
  std::int32_t shrink = 1;
  while (shrink < 8 && reduction >= 4 * shrink) shrink *= 2;
  return shrink;
}

Orientation::Orientation(int exif) : exif_(exif >= 1 && exif <= 8 ? exif : 1) {}

ImageSize Orientation::turned(ImageSize size) const {
  if (exif_ >= 5) std::swap(size.height, size.width);
  return size;
}

Rect Orientation::flipped(Rect rect, ImageSize stored) const {
  const bool horizontally = exif_ == 2 || exif_ == 3 || exif_ == 7 || exif_ == 8;
  const bool vertically = exif_ == 3 || exif_ == 4 || exif_ == 6 || exif_ == 7;
  if (horizontally) rect.left = stored.width - rect.left - rect.width;
  if (vertically) rect.top = stored.height - rect.top - rect.height;
  return rect;
}

Rect Orientation::to_stored(Rect rect, ImageSize stored) const {
  return flipped(exif_ >= 5 ? swapped(rect) : rect, stored);
}

Rect Orientation::from_stored(Rect rect, ImageSize stored) const {
  rect = flipped(rect, stored);
  return exif_ >= 5 ? swapped(rect) : rect;
}

Rect snapped_outwards(Rect rect, std::int32_t step, ImageSize image) {
  const auto down = [step](std::int32_t edge) { return edge / step * step; };
  const auto up = [step](std::int32_t edge, std::int32_t limit) {
    return std::min((edge + step - 1) / step * step, limit);
  };
  const std::int32_t bottom = up(rect.top + rect.height, image.height);
  const std::int32_t right = up(rect.left + rect.width, image.width);
  const std::int32_t top = down(rect.top);
  const std::int32_t left = down(rect.left);
  return {.top = top, .left = left, .height = bottom - top, .width = right - left};
}

}  // namespace tailrace
