#include "config/draft.hpp"

#include <algorithm>
#include <optional>

#include "config/text.hpp"
#include "config/toml_reader.hpp"

namespace tailrace {
namespace {

std::size_t group_of(std::string_view key, std::size_t group) {
  return key.starts_with(kGroupPrefix) ? group : 0;
}

/// Empty if the text is not exactly one TOML value.
std::optional<TomlValue> parse_value(const std::string& text) {
  try {
    TomlValue document = parse_toml("value = " + text);
    auto& members = std::get<TomlValue::Table>(document.value);
    if (members.size() != 1) return std::nullopt;
    return std::move(members.front().value);
  } catch (const TomlSyntaxError&) {
    return std::nullopt;
  }
}

}  // namespace

Scope Draft::scope(std::size_t group) {
  return {config_, group < config_.groups.size() ? config_.groups[group] : no_group_, base_};
}

std::string Draft::display_name(std::string_view key, std::size_t group) const {
  if (!key.starts_with(kGroupPrefix)) return std::string(key);
  const bool named = group < config_.groups.size() && !setting("group.name", group).bad;
  const std::string name = named ? config_.groups[group].name : "#" + std::to_string(group + 1);
  return std::string(kGroupPrefix) + name + "." + std::string(key.substr(kGroupPrefix.size()));
}

void Draft::assign(const Key& key, std::size_t group, const TomlValue& value, const Origin& origin) {
  record(key, group, origin, to_text(value), key.type.assign(scope(group), value));
}

void Draft::assign_text(const Key& key, std::size_t group, const std::string& text, const Origin& origin) {
  if (!is_utf8(text)) return record(key, group, origin, "", "is not valid UTF-8");
  const TomlValue as_string{text, {}};
  const TomlValue value = parse_value(text).value_or(as_string);
  Problem problem = key.type.assign(scope(group), value);
  if (problem && value.get<std::string>() == nullptr && !key.type.assign(scope(group), as_string))
    problem.reset();
  record(key, group, origin, to_text(value), std::move(problem));
}

Draft::Setting Draft::setting(std::string_view key, std::size_t group) const {
  const auto found = settings_.find({key, group_of(key, group)});
  return found == settings_.end() ? Setting{} : found->second;
}

void Draft::contradiction(const std::vector<std::string_view>& keys, std::size_t group,
                          const std::string& message) {
  if (std::any_of(keys.begin(), keys.end(), [&](auto key) { return setting(key, group).bad; })) return;
  const Key& key = *find_key(keys.front());
  const Setting found = setting(key.name, group);
  const std::string value = found.value.empty() ? key.type.render(scope(group)) : found.value;
  add_issue({found.origin, display_name(key.name, group), value, message});
}

void Draft::record(const Key& key, std::size_t group, const Origin& origin, std::string value,
                   Problem problem) {
  Setting& setting = settings_[{key.name, group_of(key.name, group)}];
  setting = {origin, std::move(value), problem.has_value() || setting.bad};
  if (problem) add_issue({origin, display_name(key.name, group), setting.value, *problem});
}

}  // namespace tailrace
