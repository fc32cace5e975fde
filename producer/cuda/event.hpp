#pragma once

#include <cuda_runtime_api.h>

#include "producer/cuda/stream.hpp"

namespace tailrace {

/// Owns an event without timing. Waiting for it sleeps instead of spinning.
class CudaEvent {
 public:
  CudaEvent();
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;
  ~CudaEvent();

  /// Marks the end of everything enqueued on `stream` so far.
  void record(CudaStreamView stream);
  /// Returns when what was marked has ended. Throws CudaError, also for what failed in that work.
  void synchronize() const;
  /// Lets `stream` go on only behind what was marked.
  void hold_back(CudaStreamView stream) const;

 private:
  cudaEvent_t handle_ = nullptr;
};

}  // namespace tailrace
