#pragma once

#include <string>

#include "tests/shm/support.hpp"

namespace tailrace::testing {

/// An empty file system of its own over a folder, seen by this process and its children alone (it moves into
/// a mount namespace of its own), so that nothing stays behind even of a killed test.
class MountedFolder {
 public:
  /// `type` and `options` as mount(8) takes them: "tmpfs", "size=8m".
  MountedFolder(const std::string& type, const std::string& options);
  MountedFolder(const MountedFolder&) = delete;
  MountedFolder& operator=(const MountedFolder&) = delete;
  ~MountedFolder();

  /// Why there is none; empty: it is there. For GTEST_SKIP.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] const std::filesystem::path& path() const { return folder_.path(); }
  [[nodiscard]] RingFiles files() const { return folder_.files(); }
  [[nodiscard]] std::vector<std::string> names() const { return folder_.names(); }
  /// Leaves no byte free, in a file "filler".
  void fill() const;

 private:
  TempFolder folder_;
  std::string problem_;
};

/// Memory that the file has now.
std::uint64_t allocated_bytes(const std::filesystem::path& path);

}  // namespace tailrace::testing
