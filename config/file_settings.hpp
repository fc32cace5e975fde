#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "config/config_error.hpp"

namespace tailrace {

/// What a configuration file says by itself. Not checked against the machine: at early boot, folders may not
/// be mounted yet. Relative paths start at the file's folder; `pipeline.state` is empty where it is not set.
struct FileSettings {
  Config config;
  std::vector<ConfigIssue> issues;  // keys that were left at their defaults because what is set cannot be
  std::filesystem::path folder;     // the file's; absolute
};

/// Throws ConfigError where the file cannot be read as TOML, std::system_error where it must not be read.
/// Changes nothing anywhere; any thread.
FileSettings read_file_settings(const std::string& path);

}  // namespace tailrace
