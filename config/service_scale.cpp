#include "config/service_scale.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <system_error>

#include "config/text.hpp"
#include "os/unique_fd.hpp"

namespace tailrace {

std::string scale_file(const std::string& directory, const std::string& pipeline, const std::string& group) {
  return directory + "/scale.d/" + pipeline + ":" + group;
}

std::optional<std::uint32_t> parse_scale(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number > kMaxScale) return std::nullopt;
  return number;
}

StoredScale read_scale(const std::string& directory, const std::string& pipeline, const std::string& group) {
  const std::string path = scale_file(directory, pipeline, group);
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::array<char, 16> text{};  // longer than any number that counts
  const ssize_t bytes = file ? read(file.get(), text.data(), text.size()) : -1;
  if (bytes < 0 && errno == ENOENT) return {};
  if (bytes < 0) return {std::nullopt, path + ": " + std::generic_category().message(errno)};
  const std::string_view content(text.data(), static_cast<std::size_t>(bytes));
  if (const auto processes = parse_scale(content)) return {processes, {}};
  return {std::nullopt, path + ": must hold a number from 0 to " + std::to_string(kMaxScale) +
                            ", and holds " + quote(content)};
}

}  // namespace tailrace
