#include "shm/ring_files.hpp"

#include <algorithm>
#include <stdexcept>

#include "shm/control_layout.hpp"

namespace tailrace {

bool is_valid_name(std::string_view name) noexcept {
  const auto allowed = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= kMaxNameBytes && std::all_of(name.begin(), name.end(), allowed);
}

RingFiles::RingFiles(const std::string& name, const std::filesystem::path& data_directory,
                     const std::filesystem::path& control_directory) {
  if (!is_valid_name(name))
    throw std::invalid_argument("'" + name + "' cannot name a pipeline: 1 to 64 of A-Z a-z 0-9 _ -");
  control = control_directory / ("tailrace." + name + ".ctl");
  data = data_directory / ("tailrace." + name + ".data");
  lock = control_directory / ("tailrace." + name + ".lock");
}

std::filesystem::path unfinished(const std::filesystem::path& path) { return path.string() + ".new"; }

}  // namespace tailrace
