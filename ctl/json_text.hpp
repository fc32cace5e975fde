#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace tailrace {

/// JSON as all commands print it: indented, bytes that are no UTF-8 replaced, a line break at the end.
inline std::string json_text(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

template <typename T>
nlohmann::ordered_json or_null(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

}  // namespace tailrace
