#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "ctl/console.hpp"
#include "ctl/pipeline_processes.hpp"
#include "ctl/progress.hpp"
#include "ctl/ring_watch.hpp"
#include "ctl/supervisor.hpp"
#include "ledger/job_ledger.hpp"
#include "ledger/ledger_file.hpp"
#include "os/unique_fd.hpp"

namespace tailrace {

/// One run of a whole pipeline, from its first process to its summary. Made once per process, in a single
/// thread: it takes over SIGINT, SIGTERM, SIGHUP (every process reads the configuration again) and SIGCHLD,
/// and ignores SIGPIPE.
class PipelineRun {
 public:
  using Options = StartOptions;

  /// `config` is what `options` say. Throws std::system_error.
  PipelineRun(const Config& config, const Options& options);

  /// Returns the exit code.
  int run();

 private:
  void wait() const;
  void handle_signals();
  void on_stop_signal(int signal);
  void drain();
  void reload();
  void watch_ring();
  void watch_ledger();
  void end_stragglers();
  void end_stuck_consumers();
  void show();
  void note_death(const Supervisor::Process& process, const std::string& how) const;
  [[nodiscard]] bool complete();
  [[nodiscard]] int exit_code();
  void look_after_ring();
  /// Of every group; empty: there is no ledger.
  [[nodiscard]] std::vector<GroupTotals> totals() const;
  void print_summary() const;

  Config config_;
  Options options_;
  RingFiles files_;
  Console console_;
  UniqueFd signals_;
  bool had_terminal_;  // whose hang-up is a stop, not a wish to read the configuration again
  RingWatch ring_;
  Supervisor supervisor_;
  std::uint64_t start_ns_;
  std::uint64_t before_ = UINT64_MAX;  // items that every group was through with at the start
  std::optional<Progress> first_;      // of the present ring
  std::optional<LedgerFile> ledger_;   // since there is a ring
  RateMeter meter_;
  int stop_signal_ = 0;        // the last one; 0 = none
  std::uint64_t kill_ns_ = 0;  // when processes that should have stopped are killed; 0 = not yet known
};

}  // namespace tailrace
