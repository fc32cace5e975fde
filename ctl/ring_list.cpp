#include "ctl/ring_list.hpp"

#include <set>
#include <string_view>
#include <system_error>

namespace tailrace {
namespace {

constexpr std::string_view kPrefix = "tailrace.";

/// Calls `found` with each NAME of a file tailrace.NAME.SUFFIX, for every one of the suffixes.
void find_names(const std::filesystem::path& directory, const std::vector<std::string_view>& suffixes,
                std::set<std::string>& found) {
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const std::string file = entry.path().filename().string();
    if (!file.starts_with(kPrefix)) continue;
    for (const std::string_view suffix : suffixes) {
      if (!file.ends_with(suffix) || file.size() <= kPrefix.size() + suffix.size()) continue;
      const std::string name = file.substr(kPrefix.size(), file.size() - kPrefix.size() - suffix.size());
      if (is_valid_name(name)) found.insert(name);
    }
  }
}

}  // namespace

std::vector<std::string> list_rings(const std::filesystem::path& directory) {
  std::set<std::string> names;
  find_names(directory, {".ctl"}, names);
  return {names.begin(), names.end()};
}

std::vector<std::string> list_ring_leftovers(const std::vector<std::filesystem::path>& directories) {
  std::set<std::string> names;
  for (const auto& directory : directories)
    find_names(directory, {".ctl", ".data", ".lock", ".ctl.new", ".data.new"}, names);
  return {names.begin(), names.end()};
}

std::vector<std::filesystem::path> existing_files(const RingFiles& files) {
  std::vector<std::filesystem::path> there;
  for (const auto& path :
       {files.control, files.data, files.lock, unfinished(files.control), unfinished(files.data)}) {
    std::error_code ignored;
    if (std::filesystem::exists(std::filesystem::symlink_status(path, ignored))) there.push_back(path);
  }
  return there;
}

}  // namespace tailrace
