#pragma once

#include "ctl/command.hpp"

namespace tailrace {

/// `tailrace bench link`: what comes out of the device when the model costs next to nothing, against what the
/// link can carry.
void add_link(CLI::App& bench, Action& action);

}  // namespace tailrace
