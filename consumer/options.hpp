#pragma once

#include "config/config.hpp"
#include "systemd/process_name.hpp"

namespace tailrace {

/// Which consumer of which pipeline this process is.
struct ConsumerOptions {
  Config config;
  GroupConfig group;
  unsigned id = 0;              // distinguishes the consumers of a group in logs
  std::string argument;         // of a program of one's own, see ConsumerProgram
  bool waits_for_jobs = false;  // a service: when the pipeline's job is complete, it waits for the next one

  [[nodiscard]] ProcessName name() const { return {"consumer", config.pipeline.name, group.name, id}; }
};

}  // namespace tailrace
