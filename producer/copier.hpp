#pragma once

#include <chrono>
#include <cstddef>
#include <span>

namespace tailrace {

/// One copy from device memory into host memory.
struct DeviceCopy {
  std::span<std::byte> destination;
  const void* source = nullptr;
};

/// Where copies out of the device queue up.
enum class CopyStream {
  kCompute,  // behind the model's own work: the next batch waits for them
  kEgress,   // on a stream of their own: the next batch runs meanwhile
};

/// Copies that run beside the host's work. A lane is one slot's worth of copies; it is used again only after
/// wait().
class Copier {
 public:
  Copier() = default;
  Copier(const Copier&) = delete;
  Copier& operator=(const Copier&) = delete;
  virtual ~Copier() = default;

  /// Enqueues the copies behind all work that the model has enqueued so far, and returns at once. The sources
  /// must live, and the destinations stay untouched, until wait() has returned. Called by the model's thread.
  /// Throws CudaError.
  virtual void submit(std::size_t lane, std::span<const DeviceCopy> copies) = 0;

  /// Whether the lane's copies have ended without an error; wait() tells of one. Called by the thread that
  /// waits, and cheap enough for looking again and again. Throws CudaError.
  virtual bool has_ended(std::size_t lane) = 0;

  /// Returns when the lane's copies have ended; lanes are waited for in the order of their submission. Called
  /// by one other thread. Throws CudaError when a copy, or the model's work before it, has failed.
  virtual void wait(std::size_t lane) = 0;

  /// How long the lane's copies were under way, without what they waited for before. Called by the thread
  /// that waits, once for each submission, when it has ended; the lane may be in use again meanwhile. Throws
  /// CudaError.
  [[nodiscard]] virtual std::chrono::nanoseconds took(std::size_t lane) = 0;
};

}  // namespace tailrace
