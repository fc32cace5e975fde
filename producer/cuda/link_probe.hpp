#pragma once

#include <span>

#include "producer/cuda/stream.hpp"
#include "producer/device.hpp"

namespace tailrace {

/// Measures what copies of `target.size()` bytes (at most 256 MiB) out of the current device reach, and
/// whether they run beside work on `compute`. Overwrites `target`. Throws CudaError, OutOfDeviceMemory.
LinkFigures measure_cuda_link(CudaStreamView compute, std::span<std::byte> target);

}  // namespace tailrace
