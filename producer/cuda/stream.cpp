#include "producer/cuda/stream.hpp"

#include "producer/cuda/cuda_check.hpp"

namespace tailrace {

bool CudaStreamView::is_idle() const { return has_ended(cudaStreamQuery(handle_)); }

void CudaStreamView::synchronize() const { check(cudaStreamSynchronize(handle_), "work on the GPU failed"); }

CudaStream::CudaStream() {
  check(cudaStreamCreateWithFlags(&handle_, cudaStreamNonBlocking), "cannot create a stream");
}

CudaStream::~CudaStream() { ignore_failure(cudaStreamDestroy(handle_)); }

}  // namespace tailrace
