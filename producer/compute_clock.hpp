#pragma once

#include <chrono>
#include <optional>

namespace tailrace {

/// Measures how long the device works on each batch, whatever the host does meanwhile. Called by the model's
/// thread.
class ComputeClock {
 public:
  ComputeClock() = default;
  ComputeClock(const ComputeClock&) = delete;
  ComputeClock& operator=(const ComputeClock&) = delete;
  virtual ~ComputeClock() = default;

  /// What the model enqueues between the two belongs to one batch. Throw CudaError.
  virtual void start() = 0;
  virtual void stop() = 0;

  /// The duration of the oldest batch that has ended and was not asked for yet; empty: there is none at
  /// present. Never waits. Throws CudaError.
  [[nodiscard]] virtual std::optional<std::chrono::nanoseconds> take() = 0;

  /// The model has computed when its call returns: the caller waits for the device meanwhile.
  [[nodiscard]] virtual bool caller_waits() const { return false; }
};

}  // namespace tailrace
