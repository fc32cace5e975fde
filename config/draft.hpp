#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/config.hpp"
#include "config/config_error.hpp"
#include "config/keys.hpp"

namespace tailrace {

/// A configuration in the making: values, where each was set, and what is wrong so far. Starts with every
/// default; later settings win. Used by one thread.
class Draft {
 public:
  struct Setting {
    Origin origin;
    std::string value;  // as written
    bool bad = false;   // refused: nothing can be said about how it fits with others
  };

  /// `base`: absolute folder that relative paths start from.
  explicit Draft(std::filesystem::path base) : base_(std::move(base)) {}

  [[nodiscard]] Config& config() { return config_; }
  [[nodiscard]] const std::filesystem::path& base() const { return base_; }
  [[nodiscard]] const std::vector<ConfigIssue>& issues() const { return issues_; }

  /// Where the key's value lives; `group` counts only for the keys of a [[group]].
  [[nodiscard]] Scope scope(std::size_t group = 0);

  /// "group.masks.processes" for "group.processes" of the group "masks".
  [[nodiscard]] std::string display_name(std::string_view key, std::size_t group) const;

  /// Stores a value, or notes why not.
  void assign(const Key& key, std::size_t group, const TomlValue& value, const Origin& origin);
  /// The same for text of unknown type: as a TOML value where that fits the key, else as a string.
  void assign_text(const Key& key, std::size_t group, const std::string& text, const Origin& origin);

  /// A default Setting where nothing was set.
  [[nodiscard]] Setting setting(std::string_view key, std::size_t group = 0) const;

  void add_issue(ConfigIssue issue) { issues_.push_back(std::move(issue)); }
  /// Notes a contradiction, at the first key's place, unless one of the keys is known to be bad already.
  void contradiction(const std::vector<std::string_view>& keys, std::size_t group,
                     const std::string& message);

 private:
  void record(const Key& key, std::size_t group, const Origin& origin, std::string value, Problem problem);

  std::filesystem::path base_;
  Config config_;
  GroupConfig no_group_;
  std::map<std::pair<std::string_view, std::size_t>, Setting> settings_;
  std::vector<ConfigIssue> issues_;
};

}  // namespace tailrace
