#pragma once

#include <cstddef>

namespace tailrace {

/// Owns memory on the current device.
class DeviceMemory {
 public:
  /// Throws OutOfDeviceMemory, CudaError.
  explicit DeviceMemory(std::size_t bytes);
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory();

  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(data_); }

 private:
  void* data_ = nullptr;
};

}  // namespace tailrace
