#include "ctl/bench/measured_run.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <optional>

#include "config/exit_codes.hpp"
#include "ctl/bench/bench_error.hpp"
#include "ctl/bench/temporary_folder.hpp"
#include "ctl/child.hpp"
#include "shm/ring_owner.hpp"

namespace tailrace {
namespace {

constexpr std::chrono::milliseconds kRound{200};

std::vector<std::string> command_of(const MeasuredRun& run, const TemporaryFolder& folder,
                                    const std::filesystem::path& report) {
  std::vector<std::string> command{find_sibling("tailrace"), "run", run.file};
  std::vector<std::string> overrides = run.overrides;
  overrides.insert(overrides.end(),
                   {"pipeline.name=" + bench_name(), "pipeline.state=" + folder.file("state").string(),
                    "profile.warmup_steps=" + std::to_string(run.window.warmup_steps),
                    "profile.profile_steps=" + std::to_string(run.window.steps), "profile.cooldown_steps=0",
                    "profile.report=" + report.string(), "log.level=warning", "log.file="});
  for (const std::string& value : overrides) command.push_back("--set=" + value);
  return command;
}

/// Waits for the end; hands stop signals on. Returns the exit code, and the signal that interrupted it.
int wait_for_end(Child& child, const MeasuredRun& run, const std::filesystem::path& report,
                 const ChildSignals& signals, int& stop_signal) {
  bool drained = false;
  for (;;) {
    if (const auto code = child.try_reap()) return *code;
    if (run.goes_on && !drained && exists(report)) {
      child.send(SIGINT);
      drained = true;
    }
    if (const int signal = signals.wait(kRound)) {
      stop_signal = signal;
      child.send(signal == SIGHUP ? SIGTERM : signal);  // it passes over SIGHUP
    }
  }
}

RunReport report_of(const MeasuredRun& run, int code, const std::filesystem::path& report) {
  const bool done = code == kExitDone || code == kExitSkippedItems;
  const bool drained = run.goes_on && code == kExitInterrupted && exists(report);
  if (!done && !drained)
    throw BenchError(run.title + ": its run " +
                         (code > 128 ? "was ended by signal " + std::to_string(code - 128)
                                     : "ended with exit code " + std::to_string(code)) +
                         "; what it said is above",
                     code);
  if (!exists(report))
    throw BenchError(run.title + ": the run ended without a throughput report; it takes " +
                         std::to_string(run.window.warmup_steps + run.window.steps) +
                         " batches, so measure fewer steps where the pipeline has fewer (--steps, --warmup)",
                     kExitUnexpected);
  RunReport result = read_run_report(report);
  result.left_out = code == kExitSkippedItems;
  return result;
}

}  // namespace

std::string bench_name() { return "bench-" + std::to_string(getpid()); }

RunReport measure(const MeasuredRun& run, const ChildSignals& signals) {
  const TemporaryFolder folder;
  const auto report = folder.file("report.json");
  const UniqueFd nowhere(open("/dev/null", O_WRONLY | O_CLOEXEC));
  Child child(run.title, command_of(run, folder, report), -1, nowhere.get());
  child.start();
  int stop_signal = 0;
  const int code = wait_for_end(child, run, report, signals, stop_signal);
  // Of a run that was cut short.
  static_cast<void>(clean_ring(RingFiles(bench_name(), run.ring_directory)));
  if (stop_signal != 0) throw_interrupted(stop_signal);
  return report_of(run, code, report);
}

}  // namespace tailrace
