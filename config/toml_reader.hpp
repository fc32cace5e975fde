#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "config/toml_value.hpp"

namespace tailrace {

/// Text that is no TOML. The message does not hold the position.
class TomlSyntaxError : public std::runtime_error {
 public:
  TomlSyntaxError(const std::string& message, TextPosition position)
      : std::runtime_error(message), position_(position) {}
  [[nodiscard]] TextPosition position() const { return position_; }

 private:
  TextPosition position_;
};

/// Parses a TOML document into a table; throws TomlSyntaxError at the first fault. Safe on any bytes: lines
/// over 4096 bytes are refused, which bounds how deep tables can nest. Any thread.
TomlValue parse_toml(std::string_view text);

}  // namespace tailrace
