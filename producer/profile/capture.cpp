#include "producer/profile/capture.hpp"

#ifdef TAILRACE_WITH_CUDA
#include "producer/cuda/cuda_check.hpp"

// As cuda_profiler_api.h has them: that header is not among those that come with LibTorch.
extern "C" {
cudaError_t CUDARTAPI cudaProfilerStart(void);
cudaError_t CUDARTAPI cudaProfilerStop(void);
}
#endif

namespace tailrace {

Capture::Capture([[maybe_unused]] const Device& device) {
#ifdef TAILRACE_WITH_CUDA
  if (!device.is_cuda()) return;
  check(cudaProfilerStart(), "cannot start the profiler's capture");
  begun_ = true;
#endif
}

Capture::~Capture() {
#ifdef TAILRACE_WITH_CUDA
  if (begun_) ignore_failure(cudaProfilerStop());
#endif
}

}  // namespace tailrace
