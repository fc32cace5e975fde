#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ctl/child.hpp"
#include "ctl/restart_policy.hpp"
#include "shm/ring.hpp"

namespace tailrace {

/// The processes of one pipeline: starts them, restarts those that die, ends with the producer. Used by one
/// thread, which calls do_work() whenever a child has ended or a restart is due.
class Supervisor {
 public:
  using Say = std::function<void(const std::string&)>;

  struct Process {
    Child child;
    std::string group;  // empty: the producer
    RestartPolicy policy;
    bool served = false;         // has finished a batch since its last start
    bool advanced = false;       // or come to an end with something: with a batch, or with one of its items
    std::uint64_t start_ns = 0;  // when it is to be started again; 0 = it is not
    std::uint32_t deaths = 0;
    std::uint32_t restarts = 0;
    bool stuck = false;  // and killed for it, but not yet gone
  };

  /// Whether the end of a process with this exit code is final although others with it are not.
  using IsHopeless = std::function<bool(const Process&, int code)>;

  /// `how` a process died: "was ended by signal 9".
  using OnDeath = std::function<void(const Process&, const std::string& how)>;

  /// The producer first. `say` gets a line for each thing that happens to a process.
  Supervisor(std::vector<Process> processes, Say say, OnDeath on_death, IsHopeless is_hopeless);

  /// Starts all. Throws std::system_error; what was started before is killed.
  void start();
  /// Collects the dead, starts again what is due. `ring` may be null.
  void do_work(const Ring* ring);
  /// Has every process read its configuration again.
  void reload() const;
  /// Asks every process to stop; nothing is started again.
  void stop();
  /// Kills every process; nothing is started again.
  void kill();
  /// As stop(), because of something that no process can help: `code` becomes the end_code().
  void end(int code);

  /// Kills the process `pid`, with what it has started, for being stuck; it is then started again like any
  /// that died. Its title, or empty: it is none of these, or is on its way out already.
  std::string kill_stuck(pid_t pid);

  /// Every process has ended for good.
  [[nodiscard]] bool ended() const;
  /// Nothing is started again: the producer has ended, or stop() or kill() was called, here or by itself.
  [[nodiscard]] bool stopping() const noexcept { return stopping_; }
  /// Why the pipeline ended by itself: the producer's 0 or 3, or the code of a process that cannot be helped.
  [[nodiscard]] std::optional<int> end_code() const noexcept { return end_code_; }
  /// The producer's last exit code; empty: none yet.
  [[nodiscard]] std::optional<int> producer_code() const noexcept { return producer_code_; }
  [[nodiscard]] std::uint32_t producer_deaths() const noexcept { return processes_.front().deaths; }
  [[nodiscard]] std::uint32_t producer_restarts() const noexcept { return processes_.front().restarts; }
  [[nodiscard]] std::uint32_t deaths_in(const std::string& group) const;
  /// Milliseconds until a restart is due; -1: none.
  [[nodiscard]] int next_restart_ms() const;

 private:
  void note_served(const Ring& ring);
  void on_exit(Process& process, int code, const Ring* ring);
  void note_success_in(const std::string& group);
  void restart_or_end(Process& process, int code);

  std::vector<Process> processes_;
  Say say_;
  OnDeath on_death_;
  IsHopeless is_hopeless_;
  bool stopping_ = false;
  std::optional<int> end_code_;
  std::optional<int> producer_code_;
};

}  // namespace tailrace
