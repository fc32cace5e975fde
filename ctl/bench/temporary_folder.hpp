#pragma once

#include <filesystem>

namespace tailrace {

/// A new, empty folder of this user's in the place for temporary files (TMPDIR); gone with all its contents
/// at the end.
class TemporaryFolder {
 public:
  /// Throws std::system_error.
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  [[nodiscard]] std::filesystem::path file(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace tailrace
