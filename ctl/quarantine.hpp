#pragma once

#include "ctl/command.hpp"

namespace tailrace {

/// `tailrace quarantine list | show | retry`: what a pipeline has set aside, read from its ledger, whether
/// the pipeline runs or not.
void add_quarantine(CLI::App& app, Action& action);

}  // namespace tailrace
