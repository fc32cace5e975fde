#pragma once

#include "config/config.hpp"
#include "shm/batch_view.hpp"

namespace tailrace {

/// Height and width of an image, pixels.
struct ImageSize {
  std::int32_t height = 0;
  std::int32_t width = 0;

  bool operator==(const ImageSize&) const = default;
};

/// Which part of the original (oriented) image the model sees, and where it lies in the model's input. The
/// pixel grid of `source` is mapped onto that of `content` by scaling each axis; nothing else happens, so
/// the inverse mapping of a mask is exact.
struct ImageGeometry {
  Rect source;
  Rect content;
};

/// fit: all of the image, its ratio kept to within half a pixel, centred; fill: the largest centred part
/// that has the target's ratio, to all of the target; stretch: all to all. Never an empty rectangle.
/// Precondition: sizes are positive.
ImageGeometry plan_geometry(ImageSize original, ImageSize target, ResizeMode mode);

/// The largest power of two up to 8 by which a decoder may shrink `source` and still leave at least two
/// decoded pixels for each pixel of `content`: what JPEG can leave out without visible loss.
std::int32_t shrink_on_load(const ImageGeometry& geometry);

/// EXIF orientation (1 … 8; everything else counts as 1).
class Orientation {
 public:
  explicit Orientation(int exif);

  [[nodiscard]] int exif() const { return exif_; }

  /// Of the image as people see it, given the stored one; and back: swapping is its own inverse.
  [[nodiscard]] ImageSize turned(ImageSize size) const;

  /// The rectangle of the stored image that is shown at `rect`.
  [[nodiscard]] Rect to_stored(Rect rect, ImageSize stored) const;

  /// Where the stored image's `rect` is shown.
  [[nodiscard]] Rect from_stored(Rect rect, ImageSize stored) const;

 private:
  [[nodiscard]] Rect flipped(Rect rect, ImageSize stored) const;

  int exif_;
};

/// `rect` grown to edges that are multiples of `step`, or the edge of the image.
Rect snapped_outwards(Rect rect, std::int32_t step, ImageSize image);

}  // namespace tailrace
