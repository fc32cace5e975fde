#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "config/config_error.hpp"

namespace tailrace {

/// One value of the effective configuration.
struct EffectiveValue {
  std::string key;    // "ring.slots", "group.masks.processes"
  std::string value;  // as TOML that is JSON, too
  Origin origin;
};

struct LoadedConfig {
  Config config;
  std::vector<EffectiveValue> values;  // of the keys that have a meaning here, in the order of the file
};

/// Reads and checks a configuration file. Order of precedence: default, file, `environment` ("NAME=value";
/// only names TAILRACE_…__…), `overrides` ("key=value", from --set). Relative paths, also those of overrides,
/// start at the file's folder. Throws ConfigError with every fault, and std::system_error where the file
/// exists but must not be read. Changes nothing anywhere; any thread.
LoadedConfig load_config(const std::string& path, const std::vector<std::string>& overrides = {},
                         const std::vector<std::string>& environment = {});

/// The value of one key that does not belong to a [[group]], as TOML that is JSON, too. Precondition: there
/// is such a key.
std::string value_text(const Config& config, std::string_view key);

/// This process's environment, for load_config. Not while another thread changes it.
std::vector<std::string> process_environment();

}  // namespace tailrace
