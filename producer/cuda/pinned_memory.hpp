#pragma once

#include "producer/input.hpp"

namespace tailrace {

/// Host memory that the CUDA runtime has allocated and pinned.
class PinnedMemory final : public HostMemory {
 public:
  /// Throws OutOfDeviceMemory, CudaError.
  explicit PinnedMemory(std::size_t bytes);
  ~PinnedMemory() override;

  std::span<std::byte> bytes() override { return {data(), size_}; }
  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(data_); }

 private:
  void* data_ = nullptr;
  std::size_t size_;
};

}  // namespace tailrace
