#pragma once

#include "ctl/command.hpp"

namespace tailrace {

/// Adds the positional argument NAME (of a pipeline). A name that cannot be one is a usage error before
/// anything is looked at.
CLI::Option* add_ring_name(CLI::App& command, std::string& name);

}  // namespace tailrace
