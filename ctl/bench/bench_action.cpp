#include "ctl/bench/bench_action.hpp"

#include <fstream>
#include <iostream>
#include <utility>

#include "config/exit_codes.hpp"
#include "ctl/bench/bench_error.hpp"
#include "ctl/bench/default_pipelines.hpp"
#include "ctl/bench/measured_run.hpp"
#include "ctl/bench/temporary_folder.hpp"
#include "shm/ring_files.hpp"

namespace tailrace {

Action bench_action(std::function<void(const ChildSignals&)> work) {
  return [work = std::move(work)]() -> int {
    try {
      work(ChildSignals());
      return kExitDone;
    } catch (const BenchError& error) {
      say(error.what());
      return error.exit_code();
    }
  };
}

void add_overrides(CLI::App& command, std::vector<std::string>& overrides) {
  command.add_option("--set", overrides, "KEY=VALUE over the file and the environment; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

void say(const std::string& message) { std::cerr << "tailrace: " << message << '\n'; }

bool runs_on_gpu(const std::vector<std::string>& overrides, const ChildSignals& signals) {
  const TemporaryFolder folder;
  const auto file = folder.file("probe.toml");
  std::ofstream(file) << probe_pipeline();
  MeasuredRun probe{"the look for a GPU", file.string(), {}, RingFiles::kControlDirectory, {}, false};
  for (const std::string& value : overrides)
    if (value.starts_with("pipeline.device=")) probe.overrides.push_back(value);
  return measure(probe, signals).on_gpu();
}

}  // namespace tailrace
