#pragma once

#include <cuda_runtime_api.h>

namespace tailrace {

/// Somebody else's stream: copied freely, destroys nothing.
class CudaStreamView {
 public:
  constexpr explicit CudaStreamView(cudaStream_t handle) : handle_(handle) {}

  [[nodiscard]] constexpr cudaStream_t handle() const { return handle_; }

  /// Whether everything enqueued so far has ended. Throws CudaError for what failed in that work.
  [[nodiscard]] bool is_idle() const;

  /// Waits for everything enqueued so far. Throws CudaError, also for what failed in that work.
  void synchronize() const;

 private:
  cudaStream_t handle_;
};

/// Owns a stream of the current device that does not synchronise with the default stream.
class CudaStream {
 public:
  CudaStream();
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;
  ~CudaStream();

  [[nodiscard]] CudaStreamView view() const { return CudaStreamView{handle_}; }

 private:
  cudaStream_t handle_ = nullptr;
};

}  // namespace tailrace
