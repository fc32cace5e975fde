#include "config/overrides.hpp"

#include <string_view>

#include "config/text.hpp"

namespace tailrace {
namespace {

constexpr std::string_view kVariablePrefix = "TAILRACE_";

/// A key that can be overridden, under the name that the override uses.
struct Target {
  std::string name;
  const Key* key;
  std::size_t group;
};

/// Every key but the groups' names: those are what the overrides go by.
std::vector<Target> targets_of(const Draft& draft, std::size_t group_count) {
  std::vector<Target> targets;
  for (const Key& key : all_keys()) {
    if (key.name == "group.name") continue;
    for (std::size_t group = 0; group < (key.of_group() ? group_count : 1); ++group)
      targets.push_back({draft.display_name(key.name, group), &key, group});
  }
  return targets;
}

/// The environment's name of a key: upper case, "__" for ".", "_" for "-".
std::string variable_of(std::string_view key_name) {
  std::string name(kVariablePrefix);
  for (const char c : key_name) {
    if (c == '.')
      name += "__";
    else if (c == '-')
      name += '_';
    else
      name += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return name;
}

void apply(Draft& draft, const std::vector<Target>& targets, const std::string& name,
           const std::string& value, const Origin& origin) {
  std::vector<const Target*> found;
  for (const Target& target : targets)
    if (target.name == name) found.push_back(&target);
  if (found.size() == 1) return draft.assign_text(*found[0]->key, found[0]->group, value, origin);
  const std::string shown = origin.layer == Origin::Layer::kEnvironment ? "" : shortened(name, 120);
  if (found.size() > 1)
    return draft.add_issue({origin, shown, "",
                            "fits the groups " + draft.config().groups[found[0]->group].name + " and " +
                                draft.config().groups[found[1]->group].name + "; use --set"});
  std::vector<std::string> names;
  names.reserve(targets.size());
  for (const Target& target : targets) names.push_back(target.name);
  const std::string meant = nearest(name, names);
  draft.add_issue({origin, shown, "",
                   "unknown key" + (meant.empty() ? "; the known ones: tailrace validate --reference"
                                                  : "; did you mean " + meant + "?")});
}

}  // namespace

void apply_environment(Draft& draft, const std::vector<std::string>& environment) {
  std::vector<Target> targets = targets_of(draft, draft.config().groups.size());
  for (Target& target : targets) target.name = variable_of(target.name);
  for (const std::string& entry : environment) {
    const auto equals = entry.find('=');
    if (equals == std::string::npos) continue;
    const std::string variable = entry.substr(0, equals);
    if (!variable.starts_with(kVariablePrefix)) continue;
    const std::string name = variable_of(std::string_view(variable).substr(kVariablePrefix.size()));
    if (name.find("__", kVariablePrefix.size()) == std::string::npos) continue;
    apply(draft, targets, name, entry.substr(equals + 1), {Origin::Layer::kEnvironment, variable, {}});
  }
}

void apply_overrides(Draft& draft, const std::vector<std::string>& overrides) {
  const std::vector<Target> targets = targets_of(draft, draft.config().groups.size());
  for (const std::string& entry : overrides) {
    const Origin origin{Origin::Layer::kCommandLine, "--set", {}};
    const auto equals = entry.find('=');
    if (equals == std::string::npos)
      draft.add_issue({origin, shortened(entry, 120), "", "must be KEY=VALUE, such as ring.slots=16"});
    else
      apply(draft, targets, entry.substr(0, equals), entry.substr(equals + 1), origin);
  }
}

}  // namespace tailrace
