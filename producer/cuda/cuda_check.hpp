#pragma once

#include <cuda_runtime_api.h>

#include <string_view>

namespace tailrace {

/// What a query's answer means: false for "not ready". Throws as check() for everything else that is no
/// success.
bool has_ended(cudaError_t answer);

/// Throws CudaError (OutOfDeviceMemory for cudaErrorMemoryAllocation) unless `status` is success. `doing`
/// begins the message: "cannot create a stream". Clears the runtime's last error, so that a handled failure
/// does not come up again in somebody else's check; sticky errors stay. The place is the caller's (builtins
/// because clang 14 has no std::source_location).
void check(cudaError_t status, std::string_view doing, const char* file = __builtin_FILE(),
           int line = __builtin_LINE());

/// For destructors: a failed release is forgotten. Whatever broke the device is reported by the next check().
void ignore_failure(cudaError_t status) noexcept;

}  // namespace tailrace
