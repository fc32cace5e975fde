#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"
#include "ctl/supervisor.hpp"

namespace tailrace {

/// What every process of a pipeline is started with.
struct StartOptions {
  std::string file;
  std::vector<std::string> overrides;
  bool accept_changed_items = false;  // the producer's alone
};

/// The producer and the consumers of every group, with their command lines; not started. `config` is what
/// `options` say. Messages of theirs go to `stderr_fd`.
std::vector<Supervisor::Process> processes_of(const Config& config, const StartOptions& options,
                                              int stderr_fd);

}  // namespace tailrace
