#pragma once

#include <vips/vips.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tailrace {

struct ImageUnref {
  void operator()(VipsImage* image) const noexcept { g_object_unref(image); }
};
using TestImage = std::unique_ptr<VipsImage, ImageUnref>;

/// An image with `bands` bands of T (uint8 or uint16), each element made by `value(x, y, band)`.
template <typename T>
TestImage make_image(int width, int height, int bands, const std::function<T(int, int, int)>& value) {
  std::vector<T> pixels;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int band = 0; band < bands; ++band) pixels.push_back(value(x, y, band));
  TestImage image(vips_image_new_from_memory_copy(pixels.data(), pixels.size() * sizeof(T), width, height,
                                                  bands,
                                                  sizeof(T) == 1 ? VIPS_FORMAT_UCHAR : VIPS_FORMAT_USHORT));
  const VipsInterpretation interpretation =
      bands >= 3 ? (sizeof(T) == 1 ? VIPS_INTERPRETATION_sRGB : VIPS_INTERPRETATION_RGB16)
                 : (sizeof(T) == 1 ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_GREY16);
  VipsImage* copy = nullptr;
  if (vips_copy(image.get(), &copy, "interpretation", interpretation, nullptr) != 0) vips_error_exit(nullptr);
  return TestImage(copy);
}

/// The image in the format of `suffix` (".png", ".jpg[Q=95]").
std::string encode(const TestImage& image, const std::string& suffix);

/// Each pixel red left, green right of the middle; the upper half dark.
TestImage quadrants(int width, int height);

/// As quadrants, one colour all over.
TestImage plain_colour(int width, int height, int red, int green, int blue);

inline std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

}  // namespace tailrace
