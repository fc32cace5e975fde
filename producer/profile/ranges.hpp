#pragma once

#include <cstdint>
#include <utility>

#include "shm/ids.hpp"

namespace tailrace {

/// What the producer does with a batch, as a profiler shows it: NVTX ranges of the domain "tailrace" with the
/// batch's number as payload. Without an attached tool a range costs a few nanoseconds; in a build without
/// NVTX headers (LibTorch without CUDA) it does nothing at all. docs/profiling.md says how to look at them.
enum class RangeKind : std::uint8_t {
  kBatch,     // "batch", blue: from asking for the input to the published slot
  kGetBatch,  // "get batch", red: waiting for decoded input
  kCompute,   // "compute", green: enqueuing the model's work (on the CPU: doing it)
  kCopy,      // "copy", yellow: waiting for the copy into the slot, and publishing it
  kQueue,     // "queue", cyan: waiting for room and a free slot, and enqueuing the copy
};

/// A range from here to the end of the scope, on one thread. Ranges of a thread nest.
class ScopedRange {
 public:
  ScopedRange(RangeKind kind, BatchNumber batch) noexcept;
  ScopedRange(const ScopedRange&) = delete;
  ScopedRange& operator=(const ScopedRange&) = delete;
  ~ScopedRange();
};

/// A range that travels with its batch: another thread may end it. Ends with its last owner.
class BatchRange {
 public:
  BatchRange() = default;
  explicit BatchRange(BatchNumber batch) noexcept;
  BatchRange(BatchRange&& other) noexcept : id_(std::exchange(other.id_, kNone)) {}
  BatchRange(const BatchRange&) = delete;
  BatchRange& operator=(BatchRange other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~BatchRange() { end(); }

  /// Once; further calls do nothing.
  void end() noexcept;

 private:
  static constexpr std::uint64_t kNone = 0;  // also what NVTX gives out while no tool is attached

  std::uint64_t id_ = kNone;
};

}  // namespace tailrace
