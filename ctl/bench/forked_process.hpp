#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <vector>

#include "ctl/bench/child_signals.hpp"

namespace tailrace {

/// A copy of this process that does one piece of work and ends; it does not outlive this object, nor this
/// process. To be used from a single thread, as everything that forks.
class ForkedProcess {
 public:
  /// Starts it. What `work` throws becomes a line on stderr and the exit code. Throws std::system_error.
  explicit ForkedProcess(const std::function<void()>& work);
  ForkedProcess(ForkedProcess&& other) noexcept;
  ForkedProcess& operator=(ForkedProcess&&) = delete;
  ~ForkedProcess();

  /// Its exit code, or 128 + the signal that killed it; empty: it still runs.
  [[nodiscard]] std::optional<int> try_end();

 private:
  pid_t pid_;
  std::optional<int> code_;
};

/// Waits until all have ended in order. Throws BenchError for the first that did not, and when interrupted.
void wait_for_all(std::vector<ForkedProcess>& processes, const ChildSignals& signals);

}  // namespace tailrace
