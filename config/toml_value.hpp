#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace tailrace {

/// Where a value or key stands in its text; lines and columns (in characters) count from 1, 0 = unknown.
struct TextPosition {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

/// A value as TOML text holds it, with its position: all that the rest of the project sees of TOML.
struct TomlValue {
  struct Member;
  struct DateTime {};  // no key takes one
  using Array = std::vector<TomlValue>;
  using Table = std::vector<Member>;

  std::variant<bool, std::int64_t, double, std::string, DateTime, Array, Table> value;
  TextPosition position;

  template <class T>
  [[nodiscard]] const T* get() const {
    return std::get_if<T>(&value);
  }
};

struct TomlValue::Member {
  std::string key;
  TextPosition position;  // of the key
  TomlValue value;
};

/// As TOML text on one line, shortened to what a message can hold.
std::string to_text(const TomlValue& value);

/// "an integer", "a string", …
std::string type_name(const TomlValue& value);

}  // namespace tailrace
