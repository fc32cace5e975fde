#pragma once

#include "ctl/command.hpp"

namespace tailrace {

/// `tailrace run FILE`: the whole pipeline in the foreground. Starts producer and consumers as children,
/// restarts those that die, shows the progress, prints a summary. Exit codes: those of the producer,
/// kExitTryAgain where the pipeline runs already, kExitInterrupted or kExitTerminated with items left.
void add_run(CLI::App& app, Action& action);

}  // namespace tailrace
