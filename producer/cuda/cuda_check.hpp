#pragma once

#include <cuda_runtime_api.h>

#include <source_location>
#include <string_view>

namespace tailrace {

/// Throws CudaError (OutOfDeviceMemory for cudaErrorMemoryAllocation) unless `status` is success. `doing`
/// begins the message: "cannot create a stream". Clears the runtime's last error, so that a handled failure
/// does not come up again in somebody else's check; sticky errors stay.
void check(cudaError_t status, std::string_view doing,
           std::source_location where = std::source_location::current());

/// For destructors: a failed release is forgotten. Whatever broke the device is reported by the next check().
void ignore_failure(cudaError_t status) noexcept;

}  // namespace tailrace
