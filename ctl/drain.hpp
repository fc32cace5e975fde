#pragma once

#include "ctl/command.hpp"

namespace tailrace {

/// `tailrace drain NAME`: the producer stops taking input, what is in flight is finished, and the ring goes
/// away; waits for that. Exit codes: kExitDone, kExitNoDevice (no such ring), kExitDamagedRing (one of
/// another layout).
void add_drain(CLI::App& app, Action& action);

}  // namespace tailrace
