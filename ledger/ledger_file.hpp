#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace tailrace {

/// The file that is a pipeline's ledger at one moment, to notice that somebody removes or replaces it. Any
/// thread.
class LedgerFile {
 public:
  /// Empty: there is none.
  static std::optional<LedgerFile> find(const std::string& state_folder);

  /// The name still means this file. False only where that is certain.
  [[nodiscard]] bool is_there() const noexcept;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  LedgerFile(std::string path, dev_t device, ino_t inode)
      : path_(std::move(path)), device_(device), inode_(inode) {}

  std::string path_;
  dev_t device_;
  ino_t inode_;
};

}  // namespace tailrace
