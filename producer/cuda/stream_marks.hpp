#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "producer/cuda/pinned_memory.hpp"
#include "producer/cuda/stream.hpp"

namespace tailrace {

/// Words in host memory that streams set when they get there. Looking at one is a load: unlike the query of
/// an event it takes no lock of the driver's, which the model's thread holds while it enqueues the next
/// batch. Recorded by one thread, looked at by one other.
class StreamMarks {
 public:
  /// Throws CudaError, OutOfDeviceMemory.
  explicit StreamMarks(std::size_t count);

  /// Whether the driver can set words at all; if not, no mark is ever reached.
  [[nodiscard]] bool are_set() const noexcept { return write_ != nullptr; }
  /// Mark `index` will be reached when everything enqueued on `stream` so far has ended, without an error.
  void record(std::size_t index, CudaStreamView stream);
  /// Whether the mark is reached that was recorded last; who asks has heard of that recording (by a lock,
  /// say).
  [[nodiscard]] bool is_reached(std::size_t index) const noexcept;

 private:
  static constexpr std::size_t kStrideBytes = 64;  // a cache line each
  // As cuda.h has cuStreamWriteValue32: the driver is not linked, so that programs start without one.
  using WriteValue = int (*)(cudaStream_t stream, unsigned long long address, std::uint32_t value,
                             unsigned int flags);

  static WriteValue find_write_value();
  [[nodiscard]] std::uint32_t* word(std::size_t index) const noexcept;

  WriteValue write_;
  PinnedMemory memory_;
  std::vector<std::uint32_t> recorded_;  // by mark: what its word will be set to
};

}  // namespace tailrace
