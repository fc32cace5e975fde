#include "producer/sources/image_decoder.hpp"

#include <spdlog/spdlog.h>
// vector.h relies on vips.h.
// clang-format off
#include <vips/vips.h>
#include <vips/vector.h>
// clang-format on

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "producer/sources/regular_file.hpp"

namespace tailrace {
namespace {

constexpr std::size_t kChannels = 3;

// A libvips operation failed; its message is in libvips' error buffer.
class VipsFailure : public std::exception {};

void check(int status) {
  if (status != 0) throw VipsFailure();
}

struct Unref {
  void operator()(void* object) const noexcept { g_object_unref(object); }
};
using Image = std::unique_ptr<VipsImage, Unref>;

ImageSize size_of(const Image& image) {
  return {.height = vips_image_get_height(image.get()), .width = vips_image_get_width(image.get())};
}

// libvips has one error buffer for all threads. So that an item is told its own reason and no other's, an
// image that cannot be decoded is tried again alone: `again` is held exclusively. The gate keeps a constant
// stream of good images from locking the bad one out.
class ErrorBufferLock {
 public:
  std::shared_lock<std::shared_mutex> shared() {
    const std::lock_guard wait_behind_exclusive(gate_);
    return std::shared_lock(mutex_);
  }

  std::unique_lock<std::shared_mutex> exclusive() {
    const std::lock_guard close(gate_);
    return std::unique_lock(mutex_);
  }

 private:
  std::mutex gate_;
  std::shared_mutex mutex_;
};

ErrorBufferLock& error_buffer_lock() {
  static ErrorBufferLock lock;
  return lock;
}

// Some loaders fail with a warning and an empty error buffer.
thread_local std::string last_warning;

std::string first_error_line() {
  std::string_view text = vips_error_buffer();
  if (text.empty()) text = last_warning;
  text = text.substr(0, text.find('\n'));
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text.empty() ? "libvips gives no reason" : std::string(text);
}

void take_vips_message(const char*, GLogLevelFlags, const char* message, void*) {
  last_warning = message;
  spdlog::debug("libvips: {}", message);
}

void start_vips() {
  static std::once_flag once;
  std::call_once(once, [] {
    g_log_set_handler("VIPS", static_cast<GLogLevelFlags>(G_LOG_LEVEL_WARNING | G_LOG_LEVEL_MESSAGE),
                      take_vips_message, nullptr);
    if (VIPS_INIT("tailrace") != 0) throw std::runtime_error("cannot start libvips: " + first_error_line());
    vips_concurrency_set(1);
    // Code that liborc makes at run time is freed without a lock (up to 0.4.33 at least), and that crashes.
    vips_vector_set_enabled(FALSE);
    vips_cache_set_max(0);
    spdlog::debug("libvips {} started", vips_version_string());
  });
}

// Loaders that may see data from outside. The others that libvips may have been built with are for
// documents, drawings, microscopes or matrices, or (ImageMagick) know a hundred more formats, scripts among
// them: of these only BMP is asked for.
bool is_allowed(std::string_view loader, std::span<const std::byte> encoded) {
  constexpr std::array<std::string_view, 9> kAllowed{
      "jpegload", "pngload", "webpload", "tiffload", "gifload", "heifload", "jp2kload", "jxlload", "ppmload"};
  constexpr std::string_view kBmpMagic = "BM";
  const auto names = [loader](std::string_view name) { return loader.starts_with(name); };
  if (std::any_of(kAllowed.begin(), kAllowed.end(), names)) return true;
  return names("magickload") && std::memcmp(encoded.data(), kBmpMagic.data(), kBmpMagic.size()) == 0;
}

std::string find_loader(std::span<const std::byte> encoded) {
  const char* type = vips_foreign_find_load_buffer(encoded.data(), encoded.size());
  if (type == nullptr) throw VipsFailure();
  std::string loader = vips_nickname_find(g_type_from_name(type));
  if (!is_allowed(loader, encoded)) throw BadItem("not an image format that is read here (" + loader + ")");
  return loader;
}

Image open_image(std::span<const std::byte> encoded) {
  Image image(vips_image_new_from_buffer(encoded.data(), encoded.size(), "", "access", VIPS_ACCESS_SEQUENTIAL,
                                         "fail_on", VIPS_FAIL_ON_ERROR, nullptr));
  if (!image) throw VipsFailure();
  return image;
}

Image open_shrunk_jpeg(std::span<const std::byte> encoded, std::int32_t shrink) {
  VipsImage* image = nullptr;
  check(vips_jpegload_buffer(const_cast<std::byte*>(encoded.data()), encoded.size(), &image, "access",
                             VIPS_ACCESS_SEQUENTIAL, "fail_on", VIPS_FAIL_ON_ERROR, "shrink", shrink,
                             nullptr));
  return Image(image);
}

void check_pixel_count(ImageSize size) {
  if (size.height <= 0 || size.width <= 0) throw BadItem("the image has no pixels");
  if (std::int64_t{size.height} * size.width > kMaxImagePixels)
    throw BadItem("the image has " + std::to_string(size.width) + " x " + std::to_string(size.height) +
                      " pixels, more than the " + std::to_string(kMaxImagePixels) + " that are read",
                  SkipKind::kTooLarge);
}

Image crop(const Image& image, const Rect& rect) {
  VipsImage* cropped = nullptr;
  check(vips_extract_area(image.get(), &cropped, rect.left, rect.top, rect.width, rect.height, nullptr));
  return Image(cropped);
}

// Before resizing, or colours would leak out of fully transparent pixels.
Image without_alpha(Image image) {
  if (!vips_image_hasalpha(image.get())) return image;
  VipsImage* flat = nullptr;
  check(vips_flatten(image.get(), &flat, nullptr));
  return Image(flat);
}

// Antialiased bilinear, as most models are trained with; half the cost of libvips' default, Lanczos.
Image resize(const Image& image, ImageSize size) {
  const ImageSize now = size_of(image);
  VipsImage* resized = nullptr;
  check(vips_resize(image.get(), &resized, double(size.width) / now.width, "vscale",
                    double(size.height) / now.height, "kernel", VIPS_KERNEL_LINEAR, nullptr));
  return Image(resized);
}

Image to_srgb(Image image) {
  VipsImage* converted = nullptr;
  if (vips_image_get_typeof(image.get(), VIPS_META_ICC_NAME) != 0) {
    check(vips_icc_transform(image.get(), &converted, "srgb", "embedded", TRUE, nullptr));
    image.reset(converted);
  }
  check(vips_colourspace(image.get(), &converted, VIPS_INTERPRETATION_sRGB, nullptr));
  image.reset(converted);
  check(vips_cast_uchar(image.get(), &converted, nullptr));
  return Image(converted);
}

struct Pixels {
  ImageSize size;
  int bands = 0;
  std::vector<std::byte> bytes;  // row after row
};

// Computes the image in this thread. libvips' own sinks use a pool of threads, which has races when a thread
// of it fails or ends (mended in 8.15.4); and the process has as many decode workers as it wants.
Pixels compute(const Image& image) {
  constexpr std::int32_t kStripRows = 16;
  const std::unique_ptr<VipsRegion, Unref> region(vips_region_new(image.get()));
  Pixels pixels{size_of(image), vips_image_get_bands(image.get()), {}};
  const std::size_t row_bytes = VIPS_IMAGE_SIZEOF_LINE(image.get());
  pixels.bytes.resize(row_bytes * std::size_t(pixels.size.height));
  for (std::int32_t top = 0; top < pixels.size.height; top += kStripRows) {
    const VipsRect strip{0, top, pixels.size.width, std::min(kStripRows, pixels.size.height - top)};
    check(vips_region_prepare(region.get(), &strip));
    for (std::int32_t y = top; y < top + strip.height; ++y)
      std::memcpy(pixels.bytes.data() + std::size_t(y) * row_bytes, VIPS_REGION_ADDR(region.get(), 0, y),
                  row_bytes);
  }
  return pixels;
}

// Computes the image, the orientation last: turning needs the pixels in another order than they are read.
Pixels compute_upright(const Image& image, const Orientation& orientation) {
  Pixels lying = compute(image);
  if (orientation.exif() == 1) return lying;
  const Image tagged(vips_image_new_from_memory(lying.bytes.data(), lying.bytes.size(), lying.size.width,
                                                lying.size.height, lying.bands, VIPS_FORMAT_UCHAR));
  if (!tagged) throw VipsFailure();
  vips_image_set_int(tagged.get(), VIPS_META_ORIENTATION, orientation.exif());
  VipsImage* upright = nullptr;
  check(vips_autorot(tagged.get(), &upright, nullptr));
  return compute(Image(upright));
}

// Copies the image to `content` of the target; the rest is black.
void place(const Pixels& image, const Rect& content, ImageSize target, std::span<std::byte> pixels) {
  if (image.size != ImageSize{content.height, content.width} || image.bands != int{kChannels})
    throw BadItem("decoded to " + std::to_string(image.size.width) + " x " +
                  std::to_string(image.size.height) + " x " + std::to_string(image.bands) + ", wanted " +
                  std::to_string(content.width) + " x " + std::to_string(content.height) + " x " +
                  std::to_string(kChannels));
  if (content.height != target.height || content.width != target.width)
    std::fill(pixels.begin(), pixels.end(), std::byte{0});
  const std::size_t row_bytes = std::size_t(content.width) * kChannels;
  for (std::int32_t y = 0; y < content.height; ++y) {
    const std::size_t offset =
        (std::size_t(content.top + y) * std::size_t(target.width) + std::size_t(content.left)) * kChannels;
    std::memcpy(pixels.data() + offset, image.bytes.data() + std::size_t(y) * row_bytes, row_bytes);
  }
}

// `rect` in the pixels of the shrunk image. libvips drops the last column and row where they would be
// partial.
Rect divided(const Rect& rect, std::int32_t shrink, ImageSize shrunk) {
  const auto up = [shrink](std::int32_t edge) { return (edge + shrink - 1) / shrink; };
  const std::int32_t top = rect.top / shrink;
  const std::int32_t left = rect.left / shrink;
  return {.top = top,
          .left = left,
          .height = std::min(up(rect.top + rect.height), shrunk.height) - top,
          .width = std::min(up(rect.left + rect.width), shrunk.width) - left};
}

}  // namespace

ImageDecoder::ImageDecoder(ImageSize target, ResizeMode mode) : target_(target), mode_(mode) { start_vips(); }

DecodedImage ImageDecoder::try_decode(std::span<const std::byte> encoded, std::span<std::byte> pixels) const {
  const std::string loader = find_loader(encoded);
  Image image = open_image(encoded);
  const ImageSize stored = size_of(image);
  check_pixel_count(stored);
  const Orientation orientation(vips_image_get_orientation(image.get()));

  DecodedImage decoded{.original = orientation.turned(stored), .geometry = {}};
  decoded.geometry = plan_geometry(decoded.original, target_, mode_);
  const std::int32_t shrink = loader.starts_with("jpegload") ? shrink_on_load(decoded.geometry) : 1;
  const Rect part = snapped_outwards(orientation.to_stored(decoded.geometry.source, stored), shrink, stored);
  decoded.geometry.source = orientation.from_stored(part, stored);

  if (shrink > 1) image = open_shrunk_jpeg(encoded, shrink);
  const Rect& content = decoded.geometry.content;
  const ImageSize resized = orientation.turned({content.height, content.width});
  image = without_alpha(crop(image, divided(part, shrink, size_of(image))));
  image = to_srgb(resize(image, resized));
  place(compute_upright(image, orientation), content, target_, pixels);
  return decoded;
}

DecodedImage ImageDecoder::decode(std::span<const std::byte> encoded, std::span<std::byte> pixels) const {
  if (encoded.empty()) throw BadItem("the file is empty");
  try {
    const auto lock = error_buffer_lock().shared();
    return try_decode(encoded, pixels);
  } catch (const VipsFailure&) {
  }
  const auto lock = error_buffer_lock().exclusive();
  vips_error_clear();
  last_warning.clear();
  try {
    const DecodedImage decoded = try_decode(encoded, pixels);
    vips_error_clear();
    return decoded;
  } catch (const VipsFailure&) {
    const std::string reason = first_error_line();
    vips_error_clear();
    throw BadItem(reason);
  }
}

}  // namespace tailrace
