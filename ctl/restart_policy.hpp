#pragma once

#include <chrono>
#include <optional>

namespace tailrace {

/// Whether a process that ended is started again, and when. One object per process.
class RestartPolicy {
 public:
  static constexpr unsigned kMaxDeathsBeforeFirstBatch = 5;

  /// `code`: the exit code, or 128 + the signal. `served`: the process had got something done since it was
  /// started. Empty: starting it again is of no use. Otherwise how long to wait before.
  [[nodiscard]] std::optional<std::chrono::milliseconds> pause_before_restart(int code, bool served);

  /// Another process that does the same work has got something done: it is not the work that kills this one.
  void note_success_of_another() noexcept { has_served_ = true; }

 private:
  bool has_served_ = false;
  unsigned deaths_in_vain_ = 0;  // since the last batch
};

}  // namespace tailrace
