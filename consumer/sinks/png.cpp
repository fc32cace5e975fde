#include "consumer/sinks/png.hpp"

#include <png.h>

#include <stdexcept>
#include <string>

namespace tailrace {
namespace {

[[noreturn]] void fail(const png_image& image) {
  throw std::runtime_error("cannot encode a PNG: " + std::string(image.message));
}

}  // namespace

std::vector<std::byte> encode_png(std::span<const std::uint8_t> pixels, std::int32_t height,
                                  std::int32_t width, int bands) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = bands == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGBA;
  image.flags = PNG_IMAGE_FLAG_FAST;
  std::vector<std::byte> file(PNG_IMAGE_PNG_SIZE_MAX(image));  // its worst case: written once, then cut
  png_alloc_size_t bytes = file.size();
  if (png_image_write_to_memory(&image, file.data(), &bytes, 0, pixels.data(), 0, nullptr) == 0) fail(image);
  file.resize(bytes);
  return file;
}

}  // namespace tailrace
