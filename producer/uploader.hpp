#pragma once

#include <chrono>
#include <cstddef>
#include <span>

namespace tailrace {

/// Copies input batches to where the model reads them, beside the model's own work. A lane is room for one
/// batch. Called by the model's thread.
class Uploader {
 public:
  Uploader() = default;
  Uploader(const Uploader&) = delete;
  Uploader& operator=(const Uploader&) = delete;
  virtual ~Uploader() = default;

  /// Enqueues the copy, behind the work that reads what was in the lane, and returns at once. `input` keeps
  /// its content until wait(lane) has returned; on the CPU, where nothing is copied, until the model is
  /// through with it. Throws CudaError.
  virtual void submit(std::size_t lane, std::span<const std::byte> input) = 0;

  /// The lane's bytes in device memory, for work that the model enqueues from now on.
  virtual std::span<const std::byte> acquire(std::size_t lane) = 0;

  /// All work that reads the lane has been enqueued.
  virtual void release(std::size_t lane) = 0;

  /// Returns when the copy that was submitted last has ended, with the time that it took. Throws CudaError.
  virtual std::chrono::nanoseconds wait(std::size_t lane) = 0;
};

}  // namespace tailrace
