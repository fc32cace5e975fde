#pragma once

#include <cuda_runtime_api.h>

#include <chrono>

#include "producer/cuda/stream.hpp"

namespace tailrace {

/// Owns a mark in a stream. Waiting for it sleeps instead of spinning.
class CudaEvent {
 public:
  enum class Timing { kOff, kOn };  // a mark without timing costs less

  explicit CudaEvent(Timing timing = Timing::kOff);
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;
  ~CudaEvent();

  /// Marks the end of everything enqueued on `stream` so far.
  void record(CudaStreamView stream);
  /// Whether what was marked has ended. Throws CudaError for what failed in that work.
  [[nodiscard]] bool has_ended() const;
  /// Returns when what was marked has ended. Throws CudaError, also for what failed in that work.
  void synchronize() const;
  /// Lets `stream` go on only behind what was marked.
  void hold_back(CudaStreamView stream) const;
  /// The time from `earlier` to this mark. Precondition: both have timing and have ended.
  [[nodiscard]] std::chrono::nanoseconds since(const CudaEvent& earlier) const;

 private:
  cudaEvent_t handle_ = nullptr;
};

}  // namespace tailrace
