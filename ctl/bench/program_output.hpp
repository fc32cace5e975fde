#pragma once

#include <string>
#include <vector>

#include "ctl/bench/child_signals.hpp"

namespace tailrace {

/// What a program of the machine said.
struct ProgramOutput {
  int exit_code = 0;  // or 128 + the signal that ended it
  std::string text;   // its standard output
};

/// Runs a program to its end; its messages go to this process's stderr. `command`: program (looked up in
/// PATH) and arguments. Throws BenchError when interrupted, std::system_error where the program cannot be
/// started.
ProgramOutput run_program_to_end(const std::vector<std::string>& command, const ChildSignals& signals);

/// Its path as PATH leads to it; empty: there is no such program.
std::string find_program(const std::string& name);

}  // namespace tailrace
