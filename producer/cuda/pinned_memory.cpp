#include "producer/cuda/pinned_memory.hpp"

#include <cuda_runtime_api.h>

#include <string>

#include "producer/cuda/cuda_check.hpp"

namespace tailrace {

PinnedMemory::PinnedMemory(std::size_t bytes) : size_(bytes) {
  if (bytes == 0) return;
  check(cudaHostAlloc(&data_, bytes, cudaHostAllocPortable),
        "cannot pin " + std::to_string(bytes) + " bytes of host memory");
}

PinnedMemory::~PinnedMemory() { ignore_failure(cudaFreeHost(data_)); }

}  // namespace tailrace
