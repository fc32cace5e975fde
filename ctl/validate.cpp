#include "ctl/validate.hpp"

#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "config/exit_codes.hpp"
#include "config/load.hpp"
#include "config/memory_check.hpp"
#include "config/quantities.hpp"
#include "config/reference.hpp"
#include "ctl/json_text.hpp"

namespace tailrace {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string file;
  std::vector<std::string> overrides;
  bool json = false;
  bool reference = false;
  bool defaults = false;
};

std::string bytes_text(std::optional<std::uint64_t> bytes, const std::string& if_unknown) {
  return bytes ? rounded_size_text(*bytes) : if_unknown;
}

bool is_short(const std::vector<MemoryCheck>& checks) {
  return std::any_of(checks.begin(), checks.end(),
                     [](const MemoryCheck& check) { return !check.remedy.empty(); });
}

void print_text(const LoadedConfig& loaded, const std::vector<MemoryCheck>& checks) {
  std::size_t key_width = 0;
  std::size_t value_width = 0;
  for (const EffectiveValue& value : loaded.values) {
    key_width = std::max(key_width, value.key.size());
    value_width = std::max(value_width, std::min<std::size_t>(value.value.size(), 40));
  }
  const auto padded = [](std::string text, std::size_t width) {
    text.resize(std::max(text.size(), width), ' ');
    return text;
  };
  for (const EffectiveValue& value : loaded.values)
    std::cout << padded(value.key, key_width) << " = " << padded(value.value, value_width) << "  # "
              << to_text(value.origin) << '\n';
  std::cout << "\nring needs " << bytes_text(ring_bytes(loaded.config.ring), "unknown until a batch has run")
            << '\n';
  for (const MemoryCheck& check : checks)
    std::cout << check.place << " has " << bytes_text(check.there_bytes, "no known limit") << '\n';
}

Json to_json(const Origin& origin) {
  constexpr const char* kLayers[] = {"default", "file", "environment", "set"};
  Json json{{"layer", kLayers[static_cast<std::size_t>(origin.layer)]}};
  if (origin.layer == Origin::Layer::kFile) json.update({{"file", origin.name}});
  if (origin.layer == Origin::Layer::kEnvironment) json.update({{"variable", origin.name}});
  if (origin.position.line != 0)
    json.update({{"line", origin.position.line}, {"column", origin.position.column}});
  return json;
}

void print_json(const LoadedConfig& loaded, const std::vector<MemoryCheck>& checks) {
  Json values = Json::object();
  for (const EffectiveValue& value : loaded.values)
    values[value.key] = {{"value", Json::parse(value.value)}, {"origin", to_json(value.origin)}};
  Json limits = Json::array();
  for (const MemoryCheck& check : checks)
    limits.push_back({{"place", check.place},
                      {"there_bytes", or_null(check.there_bytes)},
                      {"enough", check.remedy.empty()},
                      {"remedy", check.remedy}});
  std::cout << json_text(
      Json{{"values", values},
           {"memory", {{"ring_bytes", or_null(ring_bytes(loaded.config.ring))}, {"limits", limits}}}});
}

void print_json(const ConfigError& error) {
  Json errors = Json::array();
  for (const ConfigIssue& issue : error.errors())
    errors.push_back({{"origin", to_json(issue.origin)},
                      {"key", issue.key},
                      {"value", issue.value},
                      {"message", issue.message}});
  std::cout << json_text(Json{{"errors", errors}});
}

int validate(const Options& options) {
  try {
    const LoadedConfig loaded = load_config(options.file, options.overrides, process_environment());
    const auto checks = check_memory(loaded.config, read_memory_facts(loaded.config.ring.directory));
    if (options.json)
      print_json(loaded, checks);
    else
      print_text(loaded, checks);
    for (const MemoryCheck& check : checks)
      if (!check.remedy.empty()) std::cerr << "tailrace: " << check.place << ": " << check.remedy << '\n';
    if (const auto warning = directory_warning(loaded.config.ring.directory))
      std::cerr << "tailrace: " << *warning << '\n';
    return is_short(checks) ? kExitTryAgain : kExitDone;
  } catch (const ConfigError& error) {
    if (options.json) print_json(error);
    throw;
  }
}

int print_generated(const std::string& text) {
  std::cout << text;
  return kExitDone;
}

}  // namespace

void add_validate(CLI::App& app, Action& action) {
  CLI::App& command = add_command(
      app, "validate",
      "Check a configuration; show each value in effect, where it came from, and the memory needed");
  const auto options = std::make_shared<Options>();
  auto* file = command.add_option("FILE", options->file, "The pipeline's TOML file");
  command
      .add_option("--set", options->overrides, "KEY=VALUE over the file and the environment; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command.add_flag("--json", options->json, "Print JSON: values or errors, memory");
  auto* reference =
      command.add_flag("--reference", options->reference, "Print the reference of all keys (Markdown)");
  auto* defaults =
      command.add_flag("--defaults", options->defaults, "Print a file with every key and its default");
  reference->excludes(file)->excludes(defaults);
  defaults->excludes(file);
  command.footer(help_text);
  command.callback([options, &action] {
    if (options->reference)
      action = [] { return print_generated(markdown_reference()); };
    else if (options->defaults)
      action = [] { return print_generated(default_toml()); };
    else if (options->file.empty())
      throw CLI::RequiredError("FILE");
    else
      action = [options] { return validate(*options); };
  });
}

}  // namespace tailrace
