#pragma once

#include "ctl/command.hpp"

namespace tailrace {

/// `tailrace status [NAME]`: the rings on this machine. Read-only. Exit codes: kExitDone, kExitNoDevice (no
/// ring of that name).
void add_status(CLI::App& app, Action& action);

}  // namespace tailrace
