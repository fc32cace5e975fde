#include "producer/cuda/cuda_check.hpp"

#include <string>

#include "producer/errors.hpp"

namespace tailrace {

void check(cudaError_t status, std::string_view doing, const char* file, int line) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();
  const std::string_view path = file;
  const std::string message =
      std::string(doing) + ": " + cudaGetErrorString(status) + " (" + cudaGetErrorName(status) + ", " +
      std::string(path.substr(path.find_last_of('/') + 1)) + ":" + std::to_string(line) + ")";
  if (status == cudaErrorMemoryAllocation) throw OutOfDeviceMemory(message);
  throw CudaError(message);
}

bool has_ended(cudaError_t answer) {
  if (answer == cudaErrorNotReady) {
    ignore_failure(answer);
    return false;
  }
  check(answer, "work on the GPU failed");
  return true;
}

void ignore_failure(cudaError_t status) noexcept {
  if (status != cudaSuccess) (void)cudaGetLastError();
}

}  // namespace tailrace
