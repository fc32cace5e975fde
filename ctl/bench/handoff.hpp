#pragma once

#include "ctl/command.hpp"

namespace tailrace {

/// `tailrace bench handoff`: how long a batch takes from one process to another, and how many of them make it
/// in a second.
void add_handoff(CLI::App& bench, Action& action);

}  // namespace tailrace
