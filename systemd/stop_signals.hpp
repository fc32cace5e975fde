#pragma once

#include <thread>

namespace tailrace {

/// Turns SIGTERM and SIGINT into flags that loops look at. The first signal asks for an orderly stop; a
/// second one ends the process at once with 128 + its number. One object per process, made in main before any
/// other thread, so that every thread has the signals blocked. Has the process ignore SIGPIPE and SIGXFSZ.
/// Also notices that the supervising process
/// (`tailrace run`, named by the environment variable TAILRACE_SUPERVISOR) is gone.
class StopSignals {
 public:
  StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  ~StopSignals();

  [[nodiscard]] bool stop_requested() const noexcept;
  /// A supervisor started this process, and ends it when the job is over.
  [[nodiscard]] bool supervised() const noexcept { return supervisor_ != 0; }
  /// The supervisor that started this process has died: drain.
  [[nodiscard]] bool orphaned() const noexcept;
  /// 0 = no signal yet.
  [[nodiscard]] int signal() const noexcept;

 private:
  void watch() noexcept;

  int signal_fd_ = -1;
  int quit_fd_ = -1;
  long supervisor_ = 0;
  std::thread thread_;
};

}  // namespace tailrace
