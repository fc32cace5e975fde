#pragma once

#include <chrono>
#include <optional>

namespace tailrace {

/// Whether a process that ended is started again, and when. One object per process.
class RestartPolicy {
 public:
  static constexpr unsigned kMaxDeathsBeforeFirstBatch = 5;

  /// `code`: the exit code, or 128 + the signal. `served`: the process had finished at least one batch since
  /// it was started. Empty: starting it again is of no use. Otherwise how long to wait before.
  [[nodiscard]] std::optional<std::chrono::milliseconds> pause_before_restart(int code, bool served);

 private:
  bool has_served_ = false;
  unsigned deaths_in_vain_ = 0;  // since the last batch
};

}  // namespace tailrace
