#include "config/load.hpp"

#include <unistd.h>

#include <filesystem>

#include "config/config_file.hpp"
#include "config/consistency.hpp"
#include "config/draft.hpp"
#include "config/instance.hpp"
#include "config/overrides.hpp"

namespace tailrace {
namespace {

namespace fs = std::filesystem;

void apply_computed_defaults(Draft& draft) {
  PipelineConfig& pipeline = draft.config().pipeline;
  if (pipeline.state.empty()) pipeline.state = default_state(draft.base(), pipeline.name);
}

std::vector<EffectiveValue> effective_values(Draft& draft) {
  std::vector<EffectiveValue> values;
  const auto add = [&](const Key& key, std::size_t group) {
    const Scope scope = draft.scope(group);
    if (!applies(key, scope)) return;
    values.push_back(
        {draft.display_name(key.name, group), key.type.render(scope), draft.setting(key.name, group).origin});
  };
  std::vector<const Key*> group_keys;
  for (const Key& key : all_keys())
    if (key.of_group()) group_keys.push_back(&key);
  for (const Key& key : all_keys()) {
    if (!key.of_group()) add(key, 0);
    if (&key != group_keys.front()) continue;
    for (std::size_t group = 0; group < draft.config().groups.size(); ++group)
      for (const Key* group_key : group_keys) add(*group_key, group);
  }
  return values;
}

}  // namespace

LoadedConfig load_config(const std::string& path, const std::vector<std::string>& overrides,
                         const std::vector<std::string>& environment) {
  const TomlValue document = read_config_file(path);
  Draft draft(fs::absolute(path).lexically_normal().parent_path());
  apply_document(draft, document, path);
  apply_environment(draft, environment);
  apply_overrides(draft, overrides);
  apply_computed_defaults(draft);
  check_consistency(draft);
  if (!draft.issues().empty()) throw ConfigError(draft.issues());
  std::vector<EffectiveValue> values = effective_values(draft);
  return {std::move(draft.config()), std::move(values)};
}

std::string value_text(const Config& config, std::string_view key) {
  Config copy = config;  // a scope could also change it
  GroupConfig no_group;
  const std::filesystem::path no_base;
  return find_key(key)->type.render({copy, no_group, no_base});
}

std::vector<std::string> process_environment() {
  std::vector<std::string> entries;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) entries.emplace_back(*entry);
  return entries;
}

}  // namespace tailrace
