#include "systemd/generator/unit_file.hpp"

#include "config/text.hpp"

namespace tailrace {
namespace {

std::string section_text(const char* name, const std::vector<std::string>& assignments) {
  if (assignments.empty()) return {};
  std::string text = "\n[" + std::string(name) + "]\n";
  for (const std::string& assignment : assignments) text += assignment + '\n';
  return text;
}

}  // namespace

std::optional<std::string> unit_file_word(std::string_view path) {
  std::string word = "\"";
  for (const char c : path) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return std::nullopt;
    if (c == '"' || c == '\\') word += '\\';
    if (c == '%') word += '%';
    word += c;
  }
  return word + '"';
}

DropIn::DropIn(const std::string& source) : source_(printable(source)) {}

std::string DropIn::text() const {
  return "# Made by tailrace-generator from " + source_ + "\n" + section_text("Unit", unit_) +
         section_text("Service", service_);
}

}  // namespace tailrace
