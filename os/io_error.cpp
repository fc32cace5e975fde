#include "os/io_error.hpp"

#include <sys/statvfs.h>

#include <array>
#include <cstdint>
#include <cstdio>

namespace tailrace {
namespace {

std::string readable_bytes(std::uint64_t bytes) {
  constexpr std::array kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.1f %s", value, kUnits[unit]);
  return text.data();
}

std::string free_space(int folder_fd) {
  struct statvfs status {};
  if (folder_fd < 0 || fstatvfs(folder_fd, &status) != 0) return {};
  return " (" + readable_bytes(std::uint64_t{status.f_bavail} * status.f_frsize) + " and " +
         std::to_string(status.f_favail) + " files free)";
}

}  // namespace

std::string in_quotes(std::string_view name) {
  std::string text = "'";
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      text += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      std::array<char, 8> escape{};
      std::snprintf(escape.data(), escape.size(), "\\x%02x", byte);
      text += escape.data();
    } else {
      text += c;
    }
  }
  return text + "'";
}

void throw_io_error(int error, std::string_view action, std::string_view path, int folder_fd) {
  throw FileError(error, std::generic_category(),
                  "cannot " + std::string(action) + " " + in_quotes(path) + free_space(folder_fd));
}

}  // namespace tailrace
