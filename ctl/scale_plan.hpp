#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tailrace {

// What `tailrace scale` does, as a function of what the service manager says. Changes nothing.

/// The services of one group, as the manager has them.
struct GroupServices {
  bool pipeline_active = false;                 // its target is
  std::map<std::uint32_t, std::string> states;  // consumer's number → "active", "failed", …
};

struct ScalePlan {
  std::vector<std::uint32_t> stop;          // newest first
  std::vector<std::uint32_t> start;         // oldest first
  std::vector<std::uint32_t> reset_failed;  // of those that start: they had failed too often
};

/// From the lines of `systemctl list-units --all --plain --no-legend TARGET CONSUMERS`.
GroupServices parse_services(std::string_view listing, const std::string& pipeline, const std::string& group);

/// Consumers 1 to `wanted` are to run. A pipeline that is not active gets none started: its target starts
/// them.
ScalePlan plan_scale(const GroupServices& services, std::uint32_t wanted);

}  // namespace tailrace
