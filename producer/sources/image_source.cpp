#include "producer/sources/image_source.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

#include "producer/sources/file_list.hpp"
#include "producer/sources/list_digest.hpp"
#include "producer/sources/output_names.hpp"
#include "producer/sources/regular_file.hpp"

namespace tailrace {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 19> kImageSuffixes{
    ".jpg",  ".jpeg", ".jpe", ".jfif", ".png", ".webp", ".tif", ".tiff", ".gif", ".heic",
    ".heif", ".avif", ".jxl", ".jp2",  ".ppm", ".pgm",  ".pbm", ".pnm",  ".bmp"};

std::vector<std::string> list_images(const fs::path& path) {
  if (fs::is_directory(path)) {
    std::vector<std::string> names = list_folder(path, kImageSuffixes);
    if (names.empty())
      throw std::invalid_argument("source.path: no images in the folder " + path.string() +
                                  " (looked for .jpg, .png, .webp, .tif and their like, in all sub-folders)");
    return names;
  }
  if (has_suffix(path.native(), kImageSuffixes))
    throw std::invalid_argument("source.path: " + path.string() +
                                " is an image; wanted a folder of images, or a file with one path a line");
  // Waiting for somebody to write into a FIFO would look like a hang.
  if (fs::exists(path) && !fs::is_regular_file(path))
    throw std::invalid_argument("source.path: " + path.string() + " is neither a folder nor a list file");
  std::vector<std::string> names = read_list_file(path);
  if (names.empty()) throw std::invalid_argument("source.path: the list file " + path.string() + " is empty");
  return names;
}

std::vector<std::byte> read_encoded(const fs::path& path) {
  const RegularFile file(path);
  if (file.size_bytes() > kMaxImageFileBytes)
    throw BadItem("the file has " + std::to_string(file.size_bytes()) + " bytes, more than the " +
                      std::to_string(kMaxImageFileBytes) + " that are read",
                  SkipKind::kTooLarge);
  std::vector<std::byte> bytes(file.size_bytes());
  bytes.resize(file.read_at(0, bytes));
  return bytes;
}

}  // namespace

ImageSource::ImageSource(const SourceConfig& config)
    : spec_{.dtype = Dtype::kUint8, .item_shape = {config.height, config.width, 3}, .image = true},
      decoder_({static_cast<std::int32_t>(config.height), static_cast<std::int32_t>(config.width)},
               config.resize),
      shard_(config),
      folder_(fs::is_directory(config.path) ? fs::path(config.path) : fs::path(config.path).parent_path()),
      names_(list_images(config.path)),
      output_names_(tailrace::output_names(names_)) {
  ListDigest digest;
  digest.add("images");
  digest.add(spec_);
  digest.add(static_cast<std::uint64_t>(config.resize));
  for (std::size_t i = 0; i < names_.size(); ++i) {
    digest.add(names_[i]);
    max_name_bytes_ = std::max(max_name_bytes_, names_[i].size() + output_names_[i].size());
  }
  digest_ = digest.value();
}

void ImageSource::describe(std::uint64_t index, Row& row) const {
  const std::uint64_t item = shard_.item(index);
  row = Row{};
  row.item = item;
  row.name = names_[item];
  row.output_name = output_names_[item];
}

void ImageSource::read(std::uint64_t index, std::span<std::byte> bytes, Row& row) const {
  describe(index, row);
  try {
    const DecodedImage image = decoder_.decode(read_encoded(folder_ / row.name), bytes);
    row.height = image.original.height;
    row.width = image.original.width;
    row.source = image.geometry.source;
    row.content = image.geometry.content;
  } catch (const BadItem& problem) {
    std::fill(bytes.begin(), bytes.end(), std::byte{0});
    row.skip_reason = problem.what();
    row.skip_kind = problem.kind();
  }
}

}  // namespace tailrace
