#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace tailrace {

/// Whether `name` may name a pipeline or a group: [A-Za-z0-9_-]{1,64}.
bool is_valid_name(std::string_view name) noexcept;

/// Where the three files of a ring are. `control_directory` holds .ctl and .lock and must be a tmpfs-like
/// local file system with futexes and OFD locks; `data_directory` may be one with huge pages.
struct RingFiles {
  std::filesystem::path control;
  std::filesystem::path data;
  std::filesystem::path lock;

  /// Throws std::invalid_argument for a name that is not valid.
  RingFiles(const std::string& name, const std::filesystem::path& data_directory,
            const std::filesystem::path& control_directory = kControlDirectory);

  static constexpr const char* kControlDirectory = "/dev/shm";
};

/// The name under which a file is built before it is renamed into place.
std::filesystem::path unfinished(const std::filesystem::path& path);

}  // namespace tailrace
