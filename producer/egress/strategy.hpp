#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "producer/model.hpp"
#include "producer/profile/ranges.hpp"

namespace tailrace {

/// What the model made of one batch, on its way out.
struct OutputBatch {
  BatchNumber number{0};
  std::vector<Row> rows;
  std::vector<OutputTensor> tensors;
  BatchRange range{};  // as a profiler sees the batch: ends when the last owner lets it go
};

/// How batches leave the GPU. One object per producer, used by its main loop.
class EgressStrategy {
 public:
  /// Batches that a strategy holds at most, the one that is being submitted included: enough that the device
  /// always has the next one queued; more would only hold memory.
  static constexpr std::size_t kMaxHeld = 4;

  EgressStrategy() = default;
  EgressStrategy(const EgressStrategy&) = delete;
  EgressStrategy& operator=(const EgressStrategy&) = delete;
  virtual ~EgressStrategy() = default;

  /// Takes the batch over; may wait for room. False: the wait was given up because a stop was asked for, and
  /// nothing of this batch will be published. Batches are published in the order of the calls. Throws
  /// CudaError, SlotTooSmall.
  [[nodiscard]] virtual bool submit(OutputBatch batch) = 0;

  /// Returns when everything submitted is published (or, without a ring, processed).
  virtual void drain() = 0;

  /// What goes on beside the main loop. Any thread.
  struct Flow {
    bool busy = false;            // a copy is under way
    std::uint64_t published = 0;  // batches so far
  };
  [[nodiscard]] virtual Flow flow() { return {}; }

  /// How long the end of a copy is looked for busily, from now on.
  virtual void set_spin(std::chrono::nanoseconds /*spin*/) {}
};

}  // namespace tailrace
