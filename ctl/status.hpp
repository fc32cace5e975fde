#pragma once

#include "ctl/command.hpp"

namespace tailrace {

/// `tailrace status [NAME | --config FILE]`: the rings on this machine, and how the jobs of pipelines stand
/// whose file is known. Read-only. Exit codes: kExitDone, kExitNoDevice (neither ring nor job of that name).
void add_status(CLI::App& app, Action& action);

}  // namespace tailrace
