#pragma once

#include <cstddef>

namespace tailrace {

/// Bytes per second that one thread copies between two buffers of this size (the largest that it takes: 256
/// MiB), again and again for a quarter of a second: what stands for the link on a machine without a GPU.
double measure_memcpy_bytes_per_s(std::size_t buffer_bytes);

}  // namespace tailrace
