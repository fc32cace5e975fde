#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "producer/cuda/device_memory.hpp"

namespace tailrace {

/// Memory of the first CUDA device that nobody else can have as long as this lives: a device with little
/// left.
class OccupiedMemory {
 public:
  /// Takes all but about `spare_bytes`. Throws CudaError.
  explicit OccupiedMemory(std::size_t spare_bytes);

  /// Bytes of the device that are free now.
  [[nodiscard]] static std::size_t free_bytes();

 private:
  std::vector<std::unique_ptr<DeviceMemory>> blocks_;
};

}  // namespace tailrace
