#include <png.h>

#include "tests/sinks/support.hpp"

namespace tailrace {
namespace {

using testing::batch_of;
using ::testing::ElementsAre;
using testing::files_below;
using testing::row_named;
using testing::TemporaryFolder;
using testing::tensor_of;

struct Picture {
  int height, width, bands;
  std::vector<std::uint8_t> pixels;
};

Picture load_png(const std::string& path) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_file(&image, path.c_str()) == 0) {
    ADD_FAILURE() << path << ": " << image.message;
    return {};
  }
  EXPECT_TRUE(image.format == PNG_FORMAT_GRAY || image.format == PNG_FORMAT_RGBA) << image.format;
  Picture picture{static_cast<int>(image.height), static_cast<int>(image.width),
                  static_cast<int>(PNG_IMAGE_SAMPLE_CHANNELS(image.format)),
                  std::vector<std::uint8_t>(PNG_IMAGE_SIZE(image))};
  EXPECT_NE(png_image_finish_read(&image, nullptr, picture.pixels.data(), 0, nullptr), 0) << image.message;
  return picture;
}

SinkConfig config_for(const std::string& path) {
  SinkConfig config;
  config.kind = SinkKind::kPngMask;
  config.path = path;
  return config;
}

Row image_row(std::uint64_t item, const std::string& name, std::int32_t height, std::int32_t width,
              Rect content) {
  Row row = row_named(item, name);
  row.height = height;
  row.width = width;
  row.source = {0, 0, height, width};
  row.content = content;
  return row;
}

// Two items, two classes, 1 x 2 pixels.
const std::vector<float> kScores{1, 0, 0, 1, /**/ 0, 0, 1, 1};

TEST(PngMaskSink, WritesOneGreyPngPerValidRow) {
  const TemporaryFolder folder;
  Row skipped = row_named(1, "bad");
  skipped.skip_reason = "truncated";
  const auto results = make_sink(config_for(folder / "out"))
                           ->process(batch_of({row_named(0, "d/a"), skipped},
                                              {tensor_of("out", Dtype::kFloat32, {2, 2, 1, 2}, kScores)}));
  EXPECT_THAT(files_below(folder.path()), ElementsAre("out/d/a.png"));
  ASSERT_EQ(results.size(), 1U);
  EXPECT_THAT(results[0].files, ElementsAre(folder / "out/d/a.png"));
  EXPECT_EQ(results[0].bytes, 16U);
  const Picture mask = load_png(folder / "out/d/a.png");
  EXPECT_EQ(mask.bands, 1);
  EXPECT_EQ(mask.height, 1);
  EXPECT_THAT(mask.pixels, ElementsAre(0, 1));
}

TEST(PngMaskSink, KeepsEveryClassValueThroughThePng) {
  const TemporaryFolder folder;
  std::vector<std::uint8_t> classes(256);
  std::iota(classes.begin(), classes.end(), std::uint8_t{0});
  make_sink(config_for(folder.path()))
      ->process(batch_of({row_named(0, "a")}, {tensor_of("out", Dtype::kUint8, {1, 16, 16}, classes)}));
  EXPECT_EQ(load_png(folder / "a.png").pixels, classes);
}

TEST(PngMaskSink, GivesBackTheOriginalSizeByTheModelsInputSize) {
  const TemporaryFolder folder;
  SinkConfig config = config_for(folder.path());
  config.original_size = true;
  // The output is half as large as the 2 x 4 input; only the input's right half shows the image.
  make_sink(config, {.height = 2, .width = 4})
      ->process(batch_of({image_row(0, "a", 3, 5, {0, 2, 2, 2}), row_named(1, "no image")},
                         {tensor_of("out", Dtype::kFloat32, {2, 2, 1, 2}, kScores)}));
  const Picture mask = load_png(folder / "a.png");
  EXPECT_EQ(mask.height, 3);
  EXPECT_EQ(mask.width, 5);
  EXPECT_THAT(mask.pixels, ::testing::Each(1));
  EXPECT_EQ(load_png(folder / "no image.png").width, 2);
}

TEST(PngMaskSink, KeepsOverlaysInAFolderBesideSoThatNoNameMeetsAnother) {
  const TemporaryFolder folder;
  SinkConfig config = config_for(folder / "out");
  config.overlay = true;
  const auto results =
      make_sink(config)->process(batch_of({row_named(0, "a"), row_named(1, "overlay/a")},
                                          {tensor_of("out", Dtype::kFloat32, {2, 2, 1, 2}, kScores)}));
  EXPECT_THAT(files_below(folder.path()), ElementsAre("out-overlay/a.png", "out-overlay/overlay/a.png",
                                                      "out/a.png", "out/overlay/a.png"));
  EXPECT_THAT(results.at(0).files, ElementsAre(folder / "out/a.png", folder / "out-overlay/a.png"));
  const Picture overlay = load_png(folder / "out-overlay/a.png");
  EXPECT_EQ(overlay.bands, 4);
  EXPECT_THAT(overlay.pixels, ElementsAre(0, 0, 0, 0, 128, 0, 0, 160));
}

TEST(PngMaskSink, UsesTheFirstTensorUnlessToldOtherwise) {
  const TemporaryFolder folder;
  const std::vector<float> reversed{0, 1, 1, 0};
  SinkConfig config = config_for(folder.path());
  const auto batch =
      batch_of({row_named(0, "a")}, {tensor_of("out", Dtype::kFloat32, {1, 2, 1, 2}, kScores),
                                     tensor_of("aux", Dtype::kFloat32, {1, 2, 1, 2}, reversed)});
  make_sink(config)->process(batch);
  EXPECT_THAT(load_png(folder / "a.png").pixels, ElementsAre(0, 1));
  config.tensor = "aux";
  make_sink(config)->process(batch);
  EXPECT_THAT(load_png(folder / "a.png").pixels, ElementsAre(1, 0));
}

}  // namespace
}  // namespace tailrace
