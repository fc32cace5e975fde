#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "ctl/bench/child_signals.hpp"
#include "ctl/bench/run_report.hpp"

namespace tailrace {

/// The batches that count, and those before them. 0 steps: everything counts.
struct MeasuredWindow {
  std::uint32_t warmup_steps = 0;
  std::uint32_t steps = 0;
};

/// A pipeline to be run under a name of its own, for its throughput alone.
struct MeasuredRun {
  std::string title;                   // for messages
  std::string file;                    // its configuration
  std::vector<std::string> overrides;  // "key=value", over the file and the environment
  std::string ring_directory;          // where it makes its ring
  MeasuredWindow window;
  bool goes_on = false;  // has more batches than the window: to be drained when that is over
};

/// Runs it by a `tailrace run` of its own, in fresh processes, with its state in a temporary folder; messages
/// go to stderr. A signal that asks to stop drains it, a second one stops it at once. Whatever happens, no
/// process, ring or folder is left. Throws BenchError: the run's exit code, or that of an interruption.
RunReport measure(const MeasuredRun& run, const ChildSignals& signals);

/// The pipeline's name, and its place in the names of files of this process's.
std::string bench_name();

}  // namespace tailrace
