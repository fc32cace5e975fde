#pragma once

#include "ctl/command.hpp"

namespace tailrace {

/// `tailrace clean [NAME]`: removes the rings whose processes are all dead, and what half-made ones left.
/// Exit codes: kExitDone, kExitNoDevice (nothing of that name), kExitTryAgain (one is in use; the others are
/// removed all the same).
void add_clean(CLI::App& app, Action& action);

}  // namespace tailrace
