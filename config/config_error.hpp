#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "config/toml_value.hpp"

namespace tailrace {

/// Where a value came from; later layers win.
struct Origin {
  enum class Layer { kDefault, kFile, kEnvironment, kCommandLine };
  Layer layer = Layer::kDefault;
  std::string name;       // file as the caller named it, or environment variable
  TextPosition position;  // in the file
};

/// "default", "seg.toml:3", "environment TAILRACE_RING__SLOTS", "--set"
std::string to_text(const Origin& origin);

/// One fault of a configuration.
struct ConfigIssue {
  Origin origin;
  std::string key;    // empty: the fault is none of one key
  std::string value;  // as TOML; empty: the fault is none of a value
  std::string message;
};

/// "seg.toml:3:9: ring.slots = 5000: must be an integer, 1 to 1024". One line, whatever the parts hold.
std::string to_text(const ConfigIssue& issue);

/// A configuration that cannot be used: every fault of it, sorted by layer and position; what() has one line
/// for each. Programs exit with kExitConfig.
class ConfigError : public std::runtime_error {
 public:
  explicit ConfigError(std::vector<ConfigIssue> issues);
  [[nodiscard]] const std::vector<ConfigIssue>& errors() const { return issues_; }

 private:
  std::vector<ConfigIssue> issues_;
};

}  // namespace tailrace
