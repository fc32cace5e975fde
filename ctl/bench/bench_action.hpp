#pragma once

#include <string>
#include <vector>

#include "ctl/bench/child_signals.hpp"
#include "ctl/command.hpp"

namespace tailrace {

/// An action that measures: takes over the signals first, and turns a BenchError into its message and code.
Action bench_action(std::function<void(const ChildSignals&)> work);

/// --set, as `tailrace run` has it.
void add_overrides(CLI::App& command, std::vector<std::string>& overrides);

/// A line for people on stderr: what is being measured now.
void say(const std::string& message);

/// Whether `pipeline.device`, as the overrides and the environment set it, means a GPU on this machine. Runs
/// a producer for one item.
bool runs_on_gpu(const std::vector<std::string>& overrides, const ChildSignals& signals);

}  // namespace tailrace
