#include "tests/sources/test_images.hpp"

#include <stdexcept>

namespace tailrace {

std::string encode(const TestImage& image, const std::string& suffix) {
  void* memory = nullptr;
  std::size_t bytes = 0;
  if (vips_image_write_to_buffer(image.get(), suffix.c_str(), &memory, &bytes, nullptr) != 0)
    throw std::runtime_error(vips_error_buffer());
  std::string encoded(static_cast<const char*>(memory), bytes);
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
// libvips and its libraries are not instrumented and lock with futexes, which ThreadSanitizer cannot see.
extern "C" const char* __tsan_default_suppressions() {  // NOLINT(bugprone-reserved-identifier)
  return "called_from_lib:libvips.so\ncalled_from_lib:libglib-2.0.so\ncalled_from_lib:libgobject-2.0.so\n"
         "called_from_lib:libpng16.so\ncalled_from_lib:libz.so\ncalled_from_lib:libjpeg.so\ncalled_from_lib:"
         "libwebp.so\n"
         "called_from_lib:libwebpmux.so\ncalled_from_lib:libtiff.so\ncalled_from_lib:libimagequant.so\n"
         "called_from_lib:libcgif.so\ncalled_from_lib:libgio-2.0.so\ncalled_from_lib:liborc-0.4.so\n";
}
#endif
