#pragma once

#include <functional>
#include <mutex>
#include <thread>

namespace tailrace {

/// Turns SIGTERM and SIGINT into flags that loops look at, and SIGHUP into a call. The first signal asks for
/// an orderly stop; a second one ends the process at once with 128 + its number. One object per process, made
/// in main before any other thread, so that every thread has the signals blocked. Has the process ignore
/// SIGPIPE and SIGXFSZ. Also notices that the supervising process (`tailrace run`, named by the environment
/// variable TAILRACE_SUPERVISOR) is gone.
class StopSignals {
 public:
  using Hook = std::function<void()>;

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

  /// What SIGHUP does from now on, in a thread of this object; it must not throw.
  void on_reload(Hook reload);

  /// For as long as it lives, the first signal that asks for a stop also calls `hook`, in the signals' thread
  /// or, where the signal has come already, in the constructor (or, where it comes just then, in both): for
  /// what has to be woken up, or is best ended at once. One at a time. The hook must not throw, or wait for
  /// long: no second signal is heard meanwhile.
  class StopHook {
   public:
    StopHook(StopSignals& signals, Hook hook);
    StopHook(const StopHook&) = delete;
    StopHook& operator=(const StopHook&) = delete;
    ~StopHook();

   private:
    StopSignals* signals_;
  };

 private:
  void watch() noexcept;
  void on_signal(int number) noexcept;

  int signal_fd_ = -1;
  int quit_fd_ = -1;
  long supervisor_ = 0;
  std::mutex mutex_;  // guards the hooks, also while they run
  Hook reload_;
  Hook stop_;
  std::thread thread_;
};

}  // namespace tailrace
