#pragma once

#include <string>

namespace tailrace {

/// Which process of which pipeline this is, for log lines and for what concerns it in the configuration.
struct ProcessName {
  std::string role;      // "producer", "consumer"
  std::string pipeline;  // empty: not known yet
  std::string group{};   // of a consumer
  unsigned id = 0;       // of a consumer, in its group

  /// "producer[seg]", "consumer[seg:masks:2]", or the role alone.
  [[nodiscard]] std::string text() const {
    if (pipeline.empty()) return role;
    return role + "[" + pipeline + (group.empty() ? "" : ":" + group + ":" + std::to_string(id)) + "]";
  }
};

}  // namespace tailrace
