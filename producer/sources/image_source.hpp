#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "producer/input.hpp"
#include "producer/sources/image_decoder.hpp"
#include "producer/sources/shard.hpp"

namespace tailrace {

/// Encoded files with more bytes are refused: a worker holds one as a whole.
inline constexpr std::uint64_t kMaxImageFileBytes = std::uint64_t{1} << 30;

/// The images of a folder (everything below it with the suffix of an image, sorted by bytes of the relative
/// name) or of a list file (every line, relative to the list's folder, in its order), as uint8 RGB
/// [height, width, 3].
class ImageSource : public Source {
 public:
  explicit ImageSource(const SourceConfig& config);

  [[nodiscard]] const InputSpec& spec() const override { return spec_; }
  [[nodiscard]] std::uint64_t item_count() const override { return shard_.size(names_.size()); }
  void describe(std::uint64_t index, Row& row) const override;
  void read(std::uint64_t index, std::span<std::byte> bytes, Row& row) const override;
  [[nodiscard]] std::size_t max_name_bytes() const override { return max_name_bytes_; }
  [[nodiscard]] std::uint64_t digest() const override { return digest_; }

 private:
  InputSpec spec_;
  ImageDecoder decoder_;
  Shard shard_;
  std::filesystem::path folder_;
  std::vector<std::string> names_;
  std::vector<std::string> output_names_;
  std::size_t max_name_bytes_ = 0;
  std::uint64_t digest_ = 0;
};

}  // namespace tailrace
