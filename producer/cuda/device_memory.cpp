#include "producer/cuda/device_memory.hpp"

#include <cuda_runtime_api.h>

#include <string>

#include "producer/cuda/cuda_check.hpp"

namespace tailrace {

DeviceMemory::DeviceMemory(std::size_t bytes) {
  if (bytes != 0)
    check(cudaMalloc(&data_, bytes), "cannot have " + std::to_string(bytes) + " bytes on the GPU");
}

DeviceMemory::~DeviceMemory() { ignore_failure(cudaFree(data_)); }

}  // namespace tailrace
