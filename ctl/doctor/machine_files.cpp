#include "ctl/doctor/machine_files.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>

namespace tailrace {
namespace {

constexpr std::uint64_t kMostIds = 65536;  // a range beyond it is no list of CPUs

}  // namespace

std::optional<std::string> first_line(const std::filesystem::path& file) { return line_with(file, ""); }

std::optional<std::string> line_with(const std::filesystem::path& file, std::string_view prefix) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);)
    if (line.starts_with(prefix)) return trimmed(std::string_view(line).substr(prefix.size()));
  return std::nullopt;
}

std::optional<std::uint64_t> number_in(std::string_view text, int base) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc{} ? std::optional(number) : std::nullopt;
}

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\n");
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(" \t\n") + 1 - begin));
}

std::string chosen_word(std::string_view text) {
  const std::size_t begin = text.find('[');
  const std::size_t end = text.find(']');
  return begin == std::string_view::npos || end == std::string_view::npos || end < begin
             ? std::string{}
             : std::string(text.substr(begin + 1, end - begin - 1));
}

std::vector<std::uint32_t> id_list(std::string_view text) {
  std::vector<std::uint32_t> ids;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    const auto first = number_in(part);
    const std::size_t dash = part.find('-');
    const auto last = dash == std::string_view::npos ? first : number_in(part.substr(dash + 1));
    if (first && last && *last < kMostIds)
      for (std::uint64_t id = *first; id <= *last; ++id) ids.push_back(static_cast<std::uint32_t>(id));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
  }
  return ids;
}

}  // namespace tailrace
