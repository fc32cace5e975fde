#include "tests/sources/test_images.hpp"

#include <stdexcept>

namespace tailrace {

std::string encode(const TestImage& image, const std::string& suffix) {
  void* memory = nullptr;
  std::size_t bytes = 0;
  if (vips_image_write_to_buffer(image.get(), suffix.c_str(), &memory, &bytes, nullptr) != 0)
    throw std::runtime_error(vips_error_buffer());
  const std::string encoded(static_cast<const char*>(memory), bytes);
  g_free(memory);
  return encoded;
}

TestImage quadrants(int width, int height) {
  return make_image<std::uint8_t>(width, height, 3, [=](int x, int y, int band) -> std::uint8_t {
    const bool left = x < width / 2;
    const bool lit = band == (left ? 0 : 1);
    return static_cast<std::uint8_t>(lit ? (y < height / 2 ? 120 : 250) : 0);
  });
}

TestImage plain_colour(int width, int height, int red, int green, int blue) {
  return make_image<std::uint8_t>(width, height, 3, [=](int, int, int band) {
    return static_cast<std::uint8_t>(band == 0 ? red : band == 1 ? green : blue);
  });
}

}  // namespace tailrace

#ifdef __SANITIZE_THREAD__
// libvips and GLib are not instrumented and lock with futexes, which ThreadSanitizer cannot see.
extern "C" const char* __tsan_default_suppressions() {  // NOLINT(bugprone-reserved-identifier)
  return "race:libvips.so\nrace:libglib-2.0.so\nrace:libgobject-2.0.so\nrace:libpng16.so\nrace:libz.so\n"
         "race:libjpeg.so\n";
}
#endif
