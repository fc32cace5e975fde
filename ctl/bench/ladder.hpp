#pragma once

#include "ctl/command.hpp"

namespace tailrace {

/// `tailrace bench ladder [FILE]`: one pipeline with each egress strategy, side by side.
void add_ladder(CLI::App& bench, Action& action);

}  // namespace tailrace
