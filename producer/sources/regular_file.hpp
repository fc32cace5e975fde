#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "shm/batch_view.hpp"

namespace tailrace {

/// One item cannot be used; the message is its skip reason.
class BadItem : public std::runtime_error {
 public:
  explicit BadItem(const std::string& reason, SkipKind kind = SkipKind::kUndecodable)
      : std::runtime_error(reason), kind_(kind) {}

  [[nodiscard]] SkipKind kind() const noexcept { return kind_; }

 private:
  SkipKind kind_;
};

/// A regular file, open for reading. Reads copy (pread): a map of a file that somebody truncates would kill
/// the process with SIGBUS.
class RegularFile {
 public:
  /// Never blocks: a FIFO, socket, device or folder is refused without being opened. Throws BadItem (also
  /// when the file is missing or forbidden), or std::system_error when the process itself is out of
  /// descriptors or memory.
  explicit RegularFile(const std::filesystem::path& path);
  RegularFile(const RegularFile&) = delete;
  RegularFile& operator=(const RegularFile&) = delete;
  ~RegularFile();

  [[nodiscard]] std::uint64_t size_bytes() const { return static_cast<std::uint64_t>(status_.st_size); }
  [[nodiscard]] const struct stat& status() const { return status_; }

  /// Bytes read into `bytes` from `offset`: fewer than its size only at the end of the file. Throws BadItem
  /// on an I/O error.
  [[nodiscard]] std::size_t read_at(std::uint64_t offset, std::span<std::byte> bytes) const;

 private:
  int fd_ = -1;
  struct stat status_ {};
};

}  // namespace tailrace
