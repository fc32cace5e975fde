#pragma once

#include <string>

#include "ctl/command.hpp"

namespace tailrace {

/// Adds the positional argument NAME (of a pipeline). A name that cannot be one is a usage error before
/// anything is looked at.
CLI::Option* add_ring_name(CLI::App& command, std::string& name);

/// That `pipeline` (empty: any) has no ring, what that can mean, and where the answer is.
std::string no_ring_text(const std::string& pipeline);

}  // namespace tailrace
