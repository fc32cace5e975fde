#include "producer/sources/image_decoder.hpp"

#include <gmock/gmock.h>
#include <png.h>
// vector.h relies on vips.h.
// clang-format off
#include <vips/vips.h>
#include <vips/vector.h>
// clang-format on

#include <array>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <thread>

#include "producer/sources/regular_file.hpp"
#include "tests/sources/test_images.hpp"

namespace tailrace {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

using Pixel = std::array<int, 3>;

class Decoded {
 public:
  Decoded(const std::string& encoded, ImageSize target, ResizeMode mode)
      : target_(target), pixels_(std::size_t(target.height) * target.width * 3, std::byte{0xA5}) {
    image_ = ImageDecoder(target, mode).decode(bytes_of(encoded), pixels_);
  }

  [[nodiscard]] const DecodedImage& image() const { return image_; }
  [[nodiscard]] Pixel at(int y, int x) const {
    const std::size_t offset = (std::size_t(y) * target_.width + x) * 3;
    return {std::to_integer<int>(pixels_[offset]), std::to_integer<int>(pixels_[offset + 1]),
            std::to_integer<int>(pixels_[offset + 2])};
  }

 private:
  ImageSize target_;
  std::vector<std::byte> pixels_;
  DecodedImage image_;
};

testing::AssertionResult is_near(const Pixel& found, const Pixel& wanted, int tolerance) {
  for (std::size_t i = 0; i < 3; ++i)
    if (std::abs(found[i] - wanted[i]) > tolerance)
      return testing::AssertionFailure() << "found " << found[0] << " " << found[1] << " " << found[2];
  return testing::AssertionSuccess();
}

std::uint32_t png_crc(const std::string& chunk) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (const char c : chunk) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320 : 0);
  }
  return ~crc;
}

class ImageDecoderTest : public testing::Test {
 protected:
  ImageDecoder starts_vips_{{1, 1}, ResizeMode::kFit};

  static auto refuses(const std::string& encoded, const std::string& reason) {
    EXPECT_THAT(
        [&] {
          Decoded({encoded}, {8, 8}, ResizeMode::kFit);
        },
        ThrowsMessage<BadItem>(HasSubstr(reason)));
  }
};

TEST_F(ImageDecoderTest, PadsWithBlackAndCentres) {
  const Decoded fit(encode(plain_colour(40, 20, 200, 100, 50), ".png"), {16, 16}, ResizeMode::kFit);
  EXPECT_EQ(fit.image().original, (ImageSize{20, 40}));
  EXPECT_EQ(fit.image().geometry.content, (Rect{4, 0, 8, 16}));
  EXPECT_EQ(fit.at(3, 8), (Pixel{0, 0, 0}));
  EXPECT_EQ(fit.at(4, 0), (Pixel{200, 100, 50}));
  EXPECT_EQ(fit.at(11, 15), (Pixel{200, 100, 50}));
  EXPECT_EQ(fit.at(12, 8), (Pixel{0, 0, 0}));
}

TEST_F(ImageDecoderTest, MapsEveryCornerWhereTheGeometrySays) {
  for (const char* format : {".png", ".jpg[Q=95]"})
    for (const ImageSize size : {ImageSize{1200, 3000}, {90, 33}, {333, 2000}, {17, 19}})
      for (const ResizeMode mode : {ResizeMode::kFit, ResizeMode::kFill, ResizeMode::kStretch}) {
        const Decoded decoded(encode(quadrants(size.width, size.height), format), {64, 48}, mode);
        const auto& [source, content] = decoded.image().geometry;
        const double middle_x =
            content.left + (size.width / 2.0 - source.left) * double(content.width) / source.width;
        const double middle_y =
            content.top + (size.height / 2.0 - source.top) * double(content.height) / source.height;
        const int blur_x = 2 + 2 * content.width / source.width;
        const int blur_y = 2 + 2 * content.height / source.height;
        const int right = static_cast<int>(std::ceil(middle_x)) + blur_x;
        const int left = static_cast<int>(std::floor(middle_x)) - blur_x - 1;
        const int below = static_cast<int>(std::ceil(middle_y)) + blur_y;
        const int above = static_cast<int>(std::floor(middle_y)) - blur_y - 1;
        SCOPED_TRACE(std::string(format) + " " + std::to_string(size.height) + "x" +
                     std::to_string(size.width));
        EXPECT_TRUE(is_near(decoded.at(above, left), {120, 0, 0}, 25));
        EXPECT_TRUE(is_near(decoded.at(above, right), {0, 120, 0}, 25));
        EXPECT_TRUE(is_near(decoded.at(below, left), {250, 0, 0}, 25));
        EXPECT_TRUE(is_near(decoded.at(below, right), {0, 250, 0}, 25));
      }
}

TEST_F(ImageDecoderTest, SurvivesExtremeRatios) {
  for (const ImageSize size : {ImageSize{1, 10000}, {10000, 1}, {1, 1}, {2, 5000}})
    for (const ResizeMode mode : {ResizeMode::kFit, ResizeMode::kFill, ResizeMode::kStretch})
      for (const char* format : {".png", ".jpg"}) {
        const Decoded decoded(encode(plain_colour(size.width, size.height, 90, 90, 90), format), {64, 64},
                              mode);
        const Rect& content = decoded.image().geometry.content;
        EXPECT_TRUE(is_near(decoded.at(content.top, content.left), {90, 90, 90}, 2));
        EXPECT_TRUE(is_near(decoded.at(content.top + content.height - 1, content.left + content.width - 1),
                            {90, 90, 90}, 2));
      }
}

TEST_F(ImageDecoderTest, TurnsImagesByTheirExifOrientation) {
  // Stored: red dark top left, green dark top right, red bright bottom left, green bright bottom right.
  const Pixel red_dark{120, 0, 0}, green_dark{0, 120, 0}, red{250, 0, 0}, green{0, 250, 0};
  const std::array<std::array<Pixel, 4>, 9> corners{{{},
                                                     {red_dark, green_dark, red, green},
                                                     {green_dark, red_dark, green, red},
                                                     {green, red, green_dark, red_dark},
                                                     {red, green, red_dark, green_dark},
                                                     {red_dark, red, green_dark, green},
                                                     {red, red_dark, green, green_dark},
                                                     {green, green_dark, red, red_dark},
                                                     {green_dark, green, red_dark, red}}};
  for (int exif = 1; exif <= 8; ++exif)
    for (const ImageSize size : {ImageSize{20, 40}, {601, 1203}})
      for (const ResizeMode mode : {ResizeMode::kStretch, ResizeMode::kFill}) {
        SCOPED_TRACE(exif);
        const TestImage image = quadrants(size.width, size.height);
        vips_image_set_int(image.get(), VIPS_META_ORIENTATION, exif);
        const Decoded decoded(encode(image, ".jpg[Q=95]"), {32, 32}, mode);
        EXPECT_EQ(decoded.image().original, exif >= 5 ? (ImageSize{size.width, size.height}) : size);
        EXPECT_TRUE(is_near(decoded.at(2, 2), corners[exif][0], 25));
        EXPECT_TRUE(is_near(decoded.at(2, 29), corners[exif][1], 25));
        EXPECT_TRUE(is_near(decoded.at(29, 2), corners[exif][2], 25));
        EXPECT_TRUE(is_near(decoded.at(29, 29), corners[exif][3], 25));
      }
}

TEST_F(ImageDecoderTest, KeepsTheCropOfAShrunkJpegOnWholePixels) {
  const Decoded decoded(encode(quadrants(1203, 601), ".jpg"), {32, 32}, ResizeMode::kFill);
  const Rect& source = decoded.image().geometry.source;
  EXPECT_EQ(source.left % 8, 0);
  EXPECT_EQ(source.height, 601);
  EXPECT_NEAR(source.left + source.width / 2.0, 601.5, 8);
}

TEST_F(ImageDecoderTest, ReadsGreyAlphaPaletteAndDeepPixels) {
  const auto grey = make_image<std::uint8_t>(20, 20, 1, [](int, int, int) { return std::uint8_t{77}; });
  EXPECT_EQ(Decoded(encode(grey, ".png"), {8, 8}, ResizeMode::kFit).at(4, 4), (Pixel{77, 77, 77}));

  const auto deep = make_image<std::uint16_t>(20, 20, 3, [](int, int, int) { return std::uint16_t{0x8000}; });
  EXPECT_TRUE(is_near(Decoded(encode(deep, ".png"), {8, 8}, ResizeMode::kFit).at(4, 4), {128, 128, 128}, 1));

  const auto deep_grey =
      make_image<std::uint16_t>(20, 20, 1, [](int, int, int) { return std::uint16_t{0x4000}; });
  EXPECT_TRUE(
      is_near(Decoded(encode(deep_grey, ".png"), {8, 8}, ResizeMode::kFit).at(4, 4), {64, 64, 64}, 1));

  const auto half_clear = make_image<std::uint8_t>(
      20, 20, 4, [](int, int, int band) { return static_cast<std::uint8_t>(band == 3 ? 128 : 200); });
  EXPECT_TRUE(
      is_near(Decoded(encode(half_clear, ".png"), {8, 8}, ResizeMode::kFit).at(4, 4), {100, 100, 100}, 2));

  const Decoded palette(encode(quadrants(64, 64), ".png[palette]"), {16, 16}, ResizeMode::kFit);
  EXPECT_TRUE(is_near(palette.at(13, 13), {0, 250, 0}, 6));
}

TEST_F(ImageDecoderTest, ConvertsCmykToRgb) {
  VipsImage* cmyk = nullptr;
  ASSERT_EQ(
      vips_icc_export(plain_colour(32, 32, 220, 30, 30).get(), &cmyk, "output_profile", "cmyk", nullptr), 0)
      << vips_error_buffer();
  const TestImage owner(cmyk);
  ASSERT_EQ(vips_image_get_bands(cmyk), 4);
  const Decoded decoded(encode(owner, ".jpg[Q=95]"), {8, 8}, ResizeMode::kFit);
  EXPECT_TRUE(is_near(decoded.at(4, 4), {220, 30, 30}, 40));
}

TEST_F(ImageDecoderTest, AppliesAnEmbeddedProfile) {
  VipsImage* wide = nullptr;
  ASSERT_EQ(vips_icc_transform(plain_colour(32, 32, 0, 200, 0).get(), &wide, "p3", "input_profile", "srgb",
                               nullptr),
            0)
      << vips_error_buffer();
  const TestImage owner(wide);
  const std::string encoded = encode(owner, ".png");
  EXPECT_TRUE(is_near(Decoded(encoded, {8, 8}, ResizeMode::kFit).at(4, 4), {0, 200, 0}, 6));
}

TEST_F(ImageDecoderTest, TakesTheFirstFrameOfAnAnimation) {
  VipsImage* frames[2] = {plain_colour(16, 16, 250, 0, 0).release(),
                          plain_colour(16, 16, 0, 250, 0).release()};
  VipsImage* strip = nullptr;
  ASSERT_EQ(vips_arrayjoin(frames, &strip, 2, "across", 1, nullptr), 0);
  g_object_unref(frames[0]);
  g_object_unref(frames[1]);
  VipsImage* copy = nullptr;
  ASSERT_EQ(vips_copy(strip, &copy, nullptr), 0);
  g_object_unref(strip);
  const TestImage animation(copy);
  vips_image_set_int(copy, "page-height", 16);
  const Decoded decoded(encode(animation, ".gif"), {8, 8}, ResizeMode::kFit);
  EXPECT_EQ(decoded.image().original, (ImageSize{16, 16}));
  EXPECT_TRUE(is_near(decoded.at(4, 4), {250, 0, 0}, 10));
}

TEST_F(ImageDecoderTest, RefusesWhatIsNoImage) {
  refuses("", "empty");
  refuses("hello, this is text\n", "not in a known format");
  refuses("B", "not in a known format");
  refuses("<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'></svg>", "not an image format");
  refuses(std::string("\x89PNG\r\n\x1a\n", 8), "");
}

TEST_F(ImageDecoderTest, RefusesTruncatedImages) {
  for (const char* format : {".png", ".jpg", ".webp", ".tif", ".gif"}) {
    SCOPED_TRACE(format);
    const std::string encoded = encode(quadrants(400, 300), format);
    for (const std::size_t percent : {3, 50, 90})
      EXPECT_THAT(
          [&] {
            Decoded(encoded.substr(0, encoded.size() * percent / 100), {8, 8}, ResizeMode::kFit);
          },
          ThrowsMessage<BadItem>(Not(HasSubstr("\n"))));
  }
}

TEST_F(ImageDecoderTest, RefusesABombBeforeItIsDecoded) {
  std::string bomb = encode(quadrants(8, 8), ".png");
  const std::string size("\0\0\x75\x30\0\0\x75\x30", 8);  // 30000, 30000
  bomb.replace(16, size.size(), size);
  const std::uint32_t crc = png_crc(bomb.substr(12, 17));  // of "IHDR" and its 13 bytes
  for (std::size_t i = 0; i < 4; ++i) bomb[29 + i] = static_cast<char>(crc >> (24 - 8 * i));
  refuses(bomb, "30000 x 30000");
}

std::size_t thread_count() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

// A grey PNG, made without libvips: that would start threads.
std::string plain_png(std::size_t side) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = image.height = static_cast<png_uint_32>(side);
  image.format = PNG_FORMAT_GRAY;
  const std::string pixels(side * side, '\x40');
  std::string file(PNG_IMAGE_PNG_SIZE_MAX(image), '\0');
  png_alloc_size_t bytes = file.size();
  EXPECT_NE(png_image_write_to_memory(&image, file.data(), &bytes, 0, pixels.data(), 0, nullptr), 0);
  return file.substr(0, bytes);
}

// libvips' pool of threads has races where one of its threads fails or ends.
TEST_F(ImageDecoderTest, DecodesInTheCallersThreadAlone) {
  const std::string png = plain_png(64);
  const std::size_t before = thread_count();
  const Decoded decoded(png, {16, 32}, ResizeMode::kFit);
  EXPECT_THROW(Decoded(png.substr(0, png.size() - 30), {16, 16}, ResizeMode::kFit), BadItem);
  EXPECT_LE(thread_count(), before);
}

// Code that liborc makes at run time is freed without a lock: with several threads that crashes, once in some
// ten thousand images.
TEST_F(ImageDecoderTest, UsesNoCodeMadeAtRunTime) { EXPECT_FALSE(vips_vector_isenabled()); }

TEST_F(ImageDecoderTest, TellsEachThreadItsOwnReason) {
  const std::string good = encode(quadrants(100, 100), ".jpg");
  const std::string text = "only text";
  const std::string png = encode(quadrants(100, 100), ".png");
  const std::string cut = png.substr(0, png.size() / 2);
  std::vector<std::string> wrong;
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 30; ++i) {
        const int kind = (t + i) % 3;
        std::string reason;
        try {
          Decoded decoded(kind == 0 ? good : kind == 1 ? text : cut, {16, 16}, ResizeMode::kFit);
        } catch (const BadItem& problem) {
          reason = problem.what();
        }
        const bool right = kind == 0   ? reason.empty()
                           : kind == 1 ? reason.find("known format") != std::string::npos
                                       : reason.find("png") != std::string::npos;
        const std::lock_guard lock(mutex);
        if (!right) wrong.push_back(std::to_string(kind) + ": " + reason);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(wrong, testing::IsEmpty());
  EXPECT_STREQ(vips_error_buffer(), "");
}

}  // namespace
}  // namespace tailrace
