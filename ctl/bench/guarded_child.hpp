#pragma once

#include "ctl/bench/child_signals.hpp"
#include "ctl/child.hpp"

namespace tailrace {

/// A child that does not outlive this object: it is killed, with what it has started, if it still runs.
class GuardedChild {
 public:
  /// Starts it. Throws std::system_error.
  explicit GuardedChild(Child child);
  GuardedChild(const GuardedChild&) = delete;
  GuardedChild& operator=(const GuardedChild&) = delete;
  ~GuardedChild();

  /// Its exit code, or 128 + the signal that killed it; empty: it still runs.
  [[nodiscard]] std::optional<int> try_end();
  /// The same, waited for. Throws BenchError when interrupted.
  int wait_for_end(const ChildSignals& signals);

 private:
  Child child_;
  std::optional<int> code_;
};

}  // namespace tailrace
