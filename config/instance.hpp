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

/// The state folder of a pipeline that runs as services: /var/lib/tailrace/PIPELINE.
std::string service_state(const std::string& pipeline);

/// Where the state of a pipeline is kept whose file, in `folder` (absolute), does not say: beside the file,
/// or, for one of the services' configurations, in service_state(), whichever program reads it.
std::string default_state(const std::filesystem::path& folder, const std::string& pipeline);

// Names of units. With "*" as a name or number they are patterns for systemctl.

std::string target_unit(const std::string& pipeline);
std::string producer_unit(const std::string& pipeline);
std::string consumer_unit(const std::string& pipeline, const std::string& group, const std::string& number);

/// Throws ConfigError where the pipeline of a service's configuration is not the one that the service is
/// named after.
void check_pipeline_name(const LoadedConfig& loaded, const std::string& pipeline);

}  // namespace tailrace
