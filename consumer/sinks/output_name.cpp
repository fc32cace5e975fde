#include "consumer/sinks/output_name.hpp"

#include <limits.h>

#include <stdexcept>

#include "os/io_error.hpp"

namespace tailrace {
namespace {

constexpr std::string_view kHex = "0123456789ABCDEF";

/// Empty = the component is fine.
std::string_view fault_of_component(std::string_view component) {
  if (component.empty()) return "it has an empty component";
  if (component == "." || component == "..") return "it has a component '.' or '..'";
  if (component.size() > NAME_MAX) return "a component is longer than 255 bytes";
  return {};
}

std::string_view fault_of_path(std::string_view path) {
  if (path.find('\0') != std::string_view::npos) return "it holds a NUL byte";
  for (std::size_t begin = 0;;) {
    const std::size_t end = path.find('/', begin);
    if (const auto fault = fault_of_component(path.substr(begin, end - begin)); !fault.empty()) return fault;
    if (end == std::string_view::npos) return {};
    begin = end + 1;
  }
}

bool is_plain(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || c == '-';
}

}  // namespace

std::string output_file_name(std::string_view name, std::string_view suffix) {
  std::string path = std::string(name) + std::string(suffix);
  std::string_view fault = fault_of_path(name);
  if (fault.empty()) fault = fault_of_path(path);
  if (!fault.empty())
    throw std::runtime_error("output name " + in_quotes(path) + " is refused: " + std::string(fault) +
                             "; wanted a relative path below the output folder");
  return path;
}

std::string folder_name_of_tensor(std::string_view tensor) {
  std::string folder;
  for (const char c : tensor) {
    if (is_plain(c) || (c == '.' && !folder.empty())) {
      folder += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      folder += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return folder.empty() ? "%" : folder;
}

}  // namespace tailrace
