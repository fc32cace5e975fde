#pragma once

#include "ctl/command.hpp"

namespace tailrace {

/// `tailrace bench ladder | link | handoff`: measures this machine. Results go to stdout, messages to stderr.
/// Nothing is left behind, neither after a failure nor after Ctrl-C. Exit codes: kExitDone, those of the
/// pipelines that are run, kExitInterrupted and kExitTerminated, kExitNoDevice (no gnuplot).
void add_bench(CLI::App& app, Action& action);

}  // namespace tailrace
