#pragma once

#include "ctl/command.hpp"

namespace tailrace {

/// `tailrace top [NAME]`: the rings of this machine, live. Read-only. On a terminal it redraws in place until
/// q, Ctrl-C or SIGTERM; elsewhere it prints one plain screen after the other. Exit code: kExitDone.
void add_top(CLI::App& app, Action& action);

}  // namespace tailrace
