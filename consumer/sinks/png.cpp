#include "consumer/sinks/png.hpp"

#include <vips/vips.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace tailrace {
namespace {

constexpr int kCompression = 1;

void start_vips() {
  static const int status = VIPS_INIT("tailrace");
  if (status != 0) throw std::runtime_error("libvips cannot start: " + std::string(vips_error_buffer()));
}

[[noreturn]] void fail() {
  const std::string reason = vips_error_buffer();
  vips_error_clear();
  throw std::runtime_error("cannot encode a PNG: " + reason);
}

struct Unref {
  void operator()(VipsImage* image) const { g_object_unref(image); }
};

}  // namespace

std::vector<std::byte> encode_png(std::span<const std::uint8_t> pixels, std::int32_t height,
                                  std::int32_t width, int bands) {
  start_vips();
  const std::unique_ptr<VipsImage, Unref> image(
      vips_image_new_from_memory(pixels.data(), pixels.size(), width, height, bands, VIPS_FORMAT_UCHAR));
  if (!image) fail();
  image->Type = bands == 1 ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB;
  // The pixels are in memory already: more threads would only hand them around.
  vips_image_set_int(image.get(), VIPS_META_CONCURRENCY, 1);
  void* data = nullptr;
  std::size_t bytes = 0;
  if (vips_pngsave_buffer(image.get(), &data, &bytes, "compression", kCompression, "strip", TRUE, nullptr) !=
      0)
    fail();
  const std::unique_ptr<void, void (*)(void*)> owner(data, g_free);
  const auto* begin = static_cast<const std::byte*>(data);
  return {begin, begin + bytes};
}

}  // namespace tailrace
