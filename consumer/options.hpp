#pragma once

#include <string>

#include "config/config.hpp"

namespace tailrace {

/// Which consumer of which pipeline this process is.
struct ConsumerOptions {
  Config config;
  GroupConfig group;
  unsigned id = 0;              // distinguishes the consumers of a group in logs
  bool waits_for_jobs = false;  // a service: when the pipeline's job is complete, it waits for the next one

  [[nodiscard]] std::string identity() const {
    return "consumer[" + config.pipeline.name + ":" + group.name + ":" + std::to_string(id) + "]";
  }
};

}  // namespace tailrace
