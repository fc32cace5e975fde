#pragma once

#include "ctl/command.hpp"

namespace tailrace {

/// `tailrace exporter`: metrics and health of the rings on this machine over HTTP, until it is told to stop.
/// Reads alone. Exit codes: kExitDone, kExitUsage (no address), kExitTryAgain (the port is taken),
/// kExitPermission.
void add_exporter(CLI::App& app, Action& action);

}  // namespace tailrace
