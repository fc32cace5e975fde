#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tailrace {

/// A consumer as the service manager names it.
struct Instance {
  std::string pipeline;
  std::string group;
  std::uint32_t number = 0;
};

/// From "PIPELINE:GROUP:N"; empty if the text has another form.
std::optional<Instance> parse_instance(std::string_view text);

/// Where a service's configuration lies: /etc/tailrace/PIPELINE.toml.
std::string find_config(const Instance& instance);

}  // namespace tailrace
