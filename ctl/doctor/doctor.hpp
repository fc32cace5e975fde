#pragma once

#include "ctl/command.hpp"

namespace tailrace {

/// `tailrace doctor [NAME]`: what limits a pipeline, and what of this machine is in its way. Read-only. Exit
/// codes: kExitDone whatever it found, kExitNoDevice (no ring of that name), those of a configuration that
/// cannot be read.
void add_doctor(CLI::App& app, Action& action);

}  // namespace tailrace
