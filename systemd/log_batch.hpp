#pragma once

#include <optional>

#include "shm/ids.hpp"

namespace tailrace {

/// For as long as it lives, the lines that this thread logs are about `batch` (the journal's field
/// TAILRACE_BATCH). May be nested.
class LogBatch {
 public:
  explicit LogBatch(BatchNumber batch) noexcept;
  LogBatch(const LogBatch&) = delete;
  LogBatch& operator=(const LogBatch&) = delete;
  ~LogBatch();

  /// What this thread's lines are about at present.
  [[nodiscard]] static std::optional<BatchNumber> current() noexcept;

 private:
  std::optional<BatchNumber> outer_;
};

}  // namespace tailrace
