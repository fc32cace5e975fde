#include "config/toml_reader.hpp"

#include <toml++/toml.h>

#include <algorithm>

namespace tailrace {
namespace {

// Each dot of a dotted key opens a table, and toml++ destroys nested tables recursively: a line of a million
// dots would end on an overflowing stack.
constexpr std::size_t kMaxLineBytes = 4096;
// Of tables and arrays in each other; a configuration has three.
constexpr int kMaxDepth = 64;

TextPosition to_position(const toml::source_region& region) {
  return {region.begin.line, region.begin.column};
}

void check_lines(std::string_view text) {
  std::uint32_t line = 1;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find('\n'), text.size());
    const std::size_t nul = text.substr(0, length).find('\0');
    if (nul != std::string_view::npos)
      throw TomlSyntaxError("a NUL byte: not a text file?", {line, static_cast<std::uint32_t>(nul + 1)});
    if (length > kMaxLineBytes)
      throw TomlSyntaxError("a line of " + std::to_string(length) + " bytes; at most " +
                                std::to_string(kMaxLineBytes) + " are read",
                            {line, 1});
    text.remove_prefix(std::min(length + 1, text.size()));
    ++line;
  }
}

TomlValue convert(const toml::node& node, int depth);

TomlValue::Table convert_table(const toml::table& table, int depth) {
  TomlValue::Table members;
  for (const auto& [key, value] : table)
    members.push_back({std::string(key.str()), to_position(key.source()), convert(value, depth)});
  return members;
}

TomlValue::Array convert_array(const toml::array& array, int depth) {
  TomlValue::Array elements;
  for (const auto& element : array) elements.push_back(convert(element, depth));
  return elements;
}

TomlValue convert(const toml::node& node, int depth) {
  if (depth > kMaxDepth)
    throw TomlSyntaxError("nested more than " + std::to_string(kMaxDepth) + " deep",
                          to_position(node.source()));
  TomlValue result{TomlValue::DateTime{}, to_position(node.source())};
  if (const auto* table = node.as_table())
    result.value = convert_table(*table, depth + 1);
  else if (const auto* array = node.as_array())
    result.value = convert_array(*array, depth + 1);
  else if (const auto* text = node.as_string())
    result.value = text->get();
  else if (const auto* integer = node.as_integer())
    result.value = integer->get();
  else if (const auto* real = node.as_floating_point())
    result.value = real->get();
  else if (const auto* boolean = node.as_boolean())
    result.value = boolean->get();
  return result;
}

}  // namespace

TomlValue parse_toml(std::string_view text) {
  check_lines(text);
  try {
    return convert(toml::parse(text), 0);
  } catch (const toml::parse_error& error) {
    throw TomlSyntaxError(std::string(error.description()), to_position(error.source()));
  }
}

}  // namespace tailrace
