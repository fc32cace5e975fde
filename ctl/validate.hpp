#pragma once

#include "ctl/command.hpp"

namespace tailrace {

/// `tailrace validate FILE`: the effective configuration with the origin of each value, and the memory needed
/// against the memory there. No side effects. Exit codes: kExitDone, kExitConfig, kExitTryAgain (too little
/// memory).
void add_validate(CLI::App& app, Action& action);

}  // namespace tailrace
