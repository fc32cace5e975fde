#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "producer/sources/image_geometry.hpp"

namespace tailrace {

/// Images with more pixels are refused before they are decoded: beyond the largest cameras, and what one
/// decode worker can be made to hold stays near 1 GiB (an interlaced PNG is decoded as a whole).
inline constexpr std::int64_t kMaxImagePixels = std::int64_t{1} << 28;

/// What became of an image: its size as people see it (EXIF orientation applied), and the geometry.
struct DecodedImage {
  ImageSize original;
  ImageGeometry geometry;
};

/// Makes 8-bit sRGB pixels of one size out of encoded images, with libvips: embedded ICC profiles and CMYK
/// are converted, grey becomes RGB, 16 bit become 8, transparent parts show black (as the padding does), of
/// animations the first frame counts. JPEGs are shrunk while they are loaded, by at most half of what is
/// needed; where `fill` crops one of them, the edges of the crop are moved outwards to the shrunk pixel grid,
/// and `geometry` says so. At the right and bottom edge of such an image the mapping may be off by less than
/// half a target pixel, elsewhere it is exact. May be used from any number of threads. Starts libvips when
/// first made; in this process it then computes each image on one thread and caches no operations.
class ImageDecoder {
 public:
  ImageDecoder(ImageSize target, ResizeMode mode);

  /// Fills `pixels`, target height × width × 3 bytes. Throws BadItem with libvips' message: then the pixels
  /// mean nothing.
  [[nodiscard]] DecodedImage decode(std::span<const std::byte> encoded, std::span<std::byte> pixels) const;

 private:
  [[nodiscard]] DecodedImage try_decode(std::span<const std::byte> encoded,
                                        std::span<std::byte> pixels) const;

  ImageSize target_;
  ResizeMode mode_;
};

}  // namespace tailrace
