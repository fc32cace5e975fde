#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tailrace {

/// The most consumers of a group, as group.processes.
inline constexpr std::uint32_t kMaxScale = 256;

/// The file that holds how many consumers `tailrace scale` gave a group: a decimal number and a newline.
/// Without it, group.processes counts.
std::string scale_file(const std::string& directory, const std::string& pipeline, const std::string& group);

/// From "4" or "4\n"; empty if the text is anything but a number up to kMaxScale.
std::optional<std::uint32_t> parse_scale(std::string_view text);

struct StoredScale {
  std::optional<std::uint32_t> processes;  // empty: nothing is stored, or nothing usable
  std::string problem;                     // why what is stored is not usable; empty: it is
};

/// Any thread.
StoredScale read_scale(const std::string& directory, const std::string& pipeline, const std::string& group);

}  // namespace tailrace
