#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "config/toml_value.hpp"

namespace tailrace {

/// Where the value of a key lives: the configuration and, for the keys of a [[group]], that group.
struct Scope {
  Config& config;
  GroupConfig& group;
  const std::filesystem::path& base;  // absolute folder that relative paths start from
};

template <class T>
using Field = std::function<T&(const Scope&)>;

template <class Section, class T>
Field<T> at(Section Config::*section, T Section::*member) {
  return [=](const Scope& scope) -> T& { return scope.config.*section.*member; };
}

template <class T>
Field<T> in_group(T GroupConfig::*member) {
  return [=](const Scope& scope) -> T& { return scope.group.*member; };
}

template <class T>
Field<T> in_sink(T SinkConfig::*member) {
  return [=](const Scope& scope) -> T& { return scope.group.sink.*member; };
}

/// What went wrong, as the end of a sentence: "must be an integer from 1 to 1024". Empty = nothing.
using Problem = std::optional<std::string>;

/// How a key's value is read, checked, stored and printed.
struct ValueType {
  std::string form;  // for people: "integer, 1 to 1024"
  /// Stores the value; after a problem what is stored is unspecified.
  std::function<Problem(const Scope&, const TomlValue&)> assign;
  /// The stored value as TOML that is JSON, too.
  std::function<std::string(const Scope&)> render;
};

template <class T>
struct Choice {
  std::string name;
  T value;
  std::string not_built;  // why it is refused all the same; empty = it is there
};

std::string must_be(std::string_view form);
/// Type mismatches always say both sides.
std::string wrong_type(std::string_view form, const TomlValue& value);
/// A string that a value of any form may be: without NUL, no longer than a path.
Problem check_text(const std::string& text);

/// A string whose text `store` checks and keeps. Types of other forms: array_value.hpp, notation_value.hpp.
ValueType text_value(const std::string& form,
                     const std::function<Problem(const Scope&, const std::string&)>& store,
                     const std::function<std::string(const Scope&)>& get);
ValueType boolean_value(const Field<bool>& field);
ValueType integer_value(const Field<std::uint64_t>& field, std::uint64_t min, std::uint64_t max);
ValueType integer_value(const Field<std::uint32_t>& field, std::uint32_t min, std::uint32_t max);
ValueType string_value(const Field<std::string>& field);
/// [A-Za-z0-9_-]{1,64}
ValueType name_value(const Field<std::string>& field);
/// Stored absolute; empty stays empty.
ValueType path_value(const Field<std::string>& field);
/// Bytes; empty = "auto".
ValueType size_or_auto_value(const Field<std::optional<std::uint64_t>>& field, std::uint64_t min,
                             std::uint64_t max);
/// `get` and `set` in nanoseconds; values are whole multiples of `resolution_ns`.
ValueType duration_value_ns(const std::function<std::uint64_t(const Scope&)>& get,
                            const std::function<void(const Scope&, std::uint64_t)>& set,
                            std::uint64_t resolution_ns, std::uint64_t min_ns, std::uint64_t max_ns);

/// One of `names`, where `index` says which is stored.
ValueType choice_value_by_index(const std::vector<Choice<std::size_t>>& choices,
                                const std::function<std::size_t(const Scope&)>& get,
                                const std::function<void(const Scope&, std::size_t)>& set);

template <class T>
ValueType choice_value(const Field<T>& field, const std::vector<Choice<T>>& choices) {
  std::vector<Choice<std::size_t>> names;
  std::vector<T> values;
  for (const Choice<T>& choice : choices) {
    names.push_back({choice.name, names.size(), choice.not_built});
    values.push_back(choice.value);
  }
  return choice_value_by_index(
      names,
      [field, values](const Scope& scope) {
        return static_cast<std::size_t>(std::find(values.begin(), values.end(), field(scope)) -
                                        values.begin());
      },
      [field, values](const Scope& scope, std::size_t index) { field(scope) = values[index]; });
}

template <class Duration>
ValueType duration_value(const Field<Duration>& field, std::chrono::nanoseconds min,
                         std::chrono::nanoseconds max) {
  const auto to_ns = [](std::chrono::nanoseconds time) { return static_cast<std::uint64_t>(time.count()); };
  return duration_value_ns([=](const Scope& scope) { return to_ns(field(scope)); },
                           [=](const Scope& scope, std::uint64_t ns) {
                             field(scope) =
                                 std::chrono::duration_cast<Duration>(std::chrono::nanoseconds(ns));
                           },
                           to_ns(Duration{1}), to_ns(min), to_ns(max));
}

}  // namespace tailrace
