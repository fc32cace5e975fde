#pragma once

#include <chrono>
#include <string>

#include "ctl/command.hpp"

namespace tailrace {

/// Adds `--interval SECONDS`; `seconds` holds the default. From `least_s` to an hour, else a usage error.
CLI::Option* add_interval(CLI::App& command, double& seconds, double least_s, const std::string& description);

std::chrono::nanoseconds as_duration(double seconds);

}  // namespace tailrace
