#include "producer/cuda/event.hpp"

#include "producer/cuda/cuda_check.hpp"

namespace tailrace {

CudaEvent::CudaEvent() {
  check(cudaEventCreateWithFlags(&handle_, cudaEventDisableTiming | cudaEventBlockingSync),
        "cannot create an event");
}

CudaEvent::~CudaEvent() { ignore_failure(cudaEventDestroy(handle_)); }

void CudaEvent::record(CudaStreamView stream) {
  check(cudaEventRecord(handle_, stream.handle()), "cannot record an event");
}

void CudaEvent::synchronize() const { check(cudaEventSynchronize(handle_), "work on the GPU failed"); }

void CudaEvent::hold_back(CudaStreamView stream) const {
  check(cudaStreamWaitEvent(stream.handle(), handle_, 0), "cannot order two streams");
}

}  // namespace tailrace
