#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "config/value_type.hpp"

namespace tailrace {

inline constexpr std::size_t kMaxGroups = 16;
inline constexpr std::string_view kGroupPrefix = "group.";

/// A key has a meaning only where another key has one of these values.
struct Condition {
  std::string_view key;  // empty = always
  std::vector<std::string_view> values;
};

/// All that is known of one key of the configuration file. Parsing, validation, --help, the shipped
/// pipeline.toml and the reference are made from it.
struct Key {
  std::string_view name;  // "ring.slots"; keys of a [[group]]: "group.processes", "group.sink.kind"
  ValueType type;
  std::string_view meaning;
  Condition applies;

  [[nodiscard]] bool of_group() const { return name.starts_with(kGroupPrefix); }
};

/// In the order of the file; the keys of a section, and those of [[group]], stand together.
const std::vector<Key>& all_keys();

/// nullptr if there is none.
const Key* find_key(std::string_view name);

/// Whether the key has a meaning in this configuration.
bool applies(const Key& key, const Scope& scope);

}  // namespace tailrace
