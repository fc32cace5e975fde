#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "producer/input.hpp"
#include "producer/sources/npy_header.hpp"
#include "producer/sources/regular_file.hpp"
#include "producer/sources/shard.hpp"

namespace tailrace {

/// The rows (first axis) of one .npy file, or of all below a folder, sorted by bytes of the relative name.
/// All files have one dtype and row shape. Row 17 of a/x.npy is the item "a/x.npy:17", its output name is
/// "a/x/000017": as many digits as the file's last row needs, six at least, so that names sort as rows do.
///
/// Rows are read by pread, not through a map: a file that somebody truncates while it is mapped would kill
/// the process with SIGBUS. A file that was changed since the start gives skipped rows, not wrong ones. Rows
/// in Fortran order are gathered element by element, which is slow and said in the log.
class ArraySource : public Source {
 public:
  explicit ArraySource(const SourceConfig& config);

  [[nodiscard]] const InputSpec& spec() const override { return spec_; }
  [[nodiscard]] std::uint64_t item_count() const override { return shard_.size(row_count_); }
  void describe(std::uint64_t index, Row& row) const override;
  void read(std::uint64_t index, std::span<std::byte> bytes, Row& row) const override;
  [[nodiscard]] std::size_t max_name_bytes() const override { return max_name_bytes_; }
  [[nodiscard]] std::uint64_t digest() const override { return digest_; }

 private:
  // Tells whether a name still means the file whose header was read.
  struct Identity {
    explicit Identity(const struct stat& status);
    bool operator==(const Identity&) const = default;

    dev_t device;
    ino_t inode;
    off_t size;
    std::int64_t modified_s;
    std::int64_t modified_ns;
  };
  struct ArrayFile {
    std::string name;
    std::string output_name;
    std::filesystem::path path;
    NpyHeader header;
    Identity identity;
    std::uint64_t first_item = 0;

    [[nodiscard]] std::uint64_t rows() const { return static_cast<std::uint64_t>(header.shape.front()); }
  };

  static ArrayFile open_array(const std::filesystem::path& path, const std::string& name);
  [[nodiscard]] static std::size_t digits(const ArrayFile& file);
  void add(ArrayFile file);
  void check_same_rows(const ArrayFile& file) const;
  void name_outputs();
  [[nodiscard]] const ArrayFile& file_of(std::uint64_t item) const;
  static void read_row(const ArrayFile& array, std::uint64_t row, std::span<std::byte> bytes);

  Shard shard_;
  InputSpec spec_;
  std::vector<ArrayFile> files_;  // none without rows
  std::uint64_t row_count_ = 0;
  std::size_t max_name_bytes_ = 0;
  std::uint64_t digest_ = 0;
};

}  // namespace tailrace
