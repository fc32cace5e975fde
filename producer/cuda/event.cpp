#include "producer/cuda/event.hpp"

#include "producer/cuda/cuda_check.hpp"

namespace tailrace {

CudaEvent::CudaEvent(Timing timing) {
  const unsigned int flags = timing == Timing::kOff ? cudaEventDisableTiming : cudaEventDefault;
  check(cudaEventCreateWithFlags(&handle_, flags | cudaEventBlockingSync), "cannot create an event");
}

CudaEvent::~CudaEvent() { ignore_failure(cudaEventDestroy(handle_)); }

void CudaEvent::record(CudaStreamView stream) {
  check(cudaEventRecord(handle_, stream.handle()), "cannot record an event");
}

bool CudaEvent::has_ended() const { return tailrace::has_ended(cudaEventQuery(handle_)); }

void CudaEvent::synchronize() const { check(cudaEventSynchronize(handle_), "work on the GPU failed"); }

void CudaEvent::hold_back(CudaStreamView stream) const {
  check(cudaStreamWaitEvent(stream.handle(), handle_, 0), "cannot order two streams");
}

std::chrono::nanoseconds CudaEvent::since(const CudaEvent& earlier) const {
  float ms = 0;
  check(cudaEventElapsedTime(&ms, earlier.handle_, handle_), "cannot read the time of an event");
  return std::chrono::nanoseconds(static_cast<std::int64_t>(static_cast<double>(ms) * 1e6));
}

}  // namespace tailrace
