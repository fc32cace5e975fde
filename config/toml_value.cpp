#include "config/toml_value.hpp"

#include "config/text.hpp"

namespace tailrace {
namespace {

constexpr std::size_t kMaxTextBytes = 120;

std::string join(const TomlValue::Array& array) {
  std::string text;
  for (const TomlValue& element : array) {
    if (text.size() > kMaxTextBytes) break;
    text += (text.empty() ? "" : ", ") + to_text(element);
  }
  return text;
}

std::string join(const TomlValue::Table& table) {
  std::string text;
  for (const TomlValue::Member& member : table) {
    if (text.size() > kMaxTextBytes) break;
    text += (text.empty() ? "" : ", ") + printable(member.key) + " = " + to_text(member.value);
  }
  return text;
}

struct ToText {
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return real_text(value); }
  std::string operator()(const std::string& value) const { return quote(shortened(value, kMaxTextBytes)); }
  std::string operator()(TomlValue::DateTime) const { return "a date or time"; }
  std::string operator()(const TomlValue::Array& value) const { return "[" + join(value) + "]"; }
  std::string operator()(const TomlValue::Table& value) const { return "{" + join(value) + "}"; }
};

struct TypeName {
  std::string operator()(bool) const { return "a boolean"; }
  std::string operator()(std::int64_t) const { return "an integer"; }
  std::string operator()(double) const { return "a float"; }
  std::string operator()(const std::string&) const { return "a string"; }
  std::string operator()(TomlValue::DateTime) const { return "a date or time"; }
  std::string operator()(const TomlValue::Array&) const { return "an array"; }
  std::string operator()(const TomlValue::Table&) const { return "a table"; }
};

}  // namespace

std::string to_text(const TomlValue& value) {
  return shortened(std::visit(ToText{}, value.value), kMaxTextBytes);
}

std::string type_name(const TomlValue& value) { return std::visit(TypeName{}, value.value); }

}  // namespace tailrace
