#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "config/load.hpp"

namespace tailrace {

/// Where the configurations of services lie, one PIPELINE.toml each.
inline constexpr const char* kServiceDirectory = "/etc/tailrace";

/// A consumer as the service manager names it.
struct Instance {
  std::string pipeline;
  std::string group;
  std::uint32_t number = 0;
};

/// From "PIPELINE:GROUP:N"; empty if the text has another form.
std::optional<Instance> parse_instance(std::string_view text);

/// A service's configuration: PIPELINE.toml in kServiceDirectory.
std::string find_config(const std::string& pipeline);

/// Where the state of a pipeline is kept whose file, in `folder` (absolute), does not say: beside the file,
/// or, for one of the services' configurations, in /var/lib/tailrace/PIPELINE, whichever program reads it.
std::string default_state(const std::filesystem::path& folder, const std::string& pipeline);

/// Throws ConfigError where the pipeline of a service's configuration is not the one that the service is
/// named after.
void check_pipeline_name(const LoadedConfig& loaded, const std::string& pipeline);

}  // namespace tailrace
