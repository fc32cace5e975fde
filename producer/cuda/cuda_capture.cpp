#include "producer/cuda/cuda_capture.hpp"

#include "producer/cuda/cuda_check.hpp"

// As cuda_profiler_api.h has them: that header is not among those that come with LibTorch.
extern "C" {
cudaError_t CUDARTAPI cudaProfilerStart(void);
cudaError_t CUDARTAPI cudaProfilerStop(void);
}

namespace tailrace {

CudaCapture::CudaCapture() { check(cudaProfilerStart(), "cannot start the profiler's capture"); }
CudaCapture::~CudaCapture() { ignore_failure(cudaProfilerStop()); }

}  // namespace tailrace
