#pragma once

#include <memory>
#include <vector>

#include "producer/cuda/device_memory.hpp"
#include "producer/cuda/event.hpp"
#include "producer/cuda/stream.hpp"
#include "producer/uploader.hpp"

namespace tailrace {

/// Copies on a prefetch stream of its own into device memory of its own.
class CudaUploader final : public Uploader {
 public:
  /// The stream behind `compute` outlives the uploader. Throws CudaError, OutOfDeviceMemory.
  CudaUploader(CudaStreamView compute, std::size_t lane_bytes, std::size_t lane_count);

  void submit(std::size_t lane, std::span<const std::byte> input) override;
  std::span<const std::byte> acquire(std::size_t lane) override;
  void release(std::size_t lane) override;
  std::chrono::nanoseconds wait(std::size_t lane) override;

 private:
  struct Lane {
    explicit Lane(std::size_t bytes) : memory(bytes) {}
    DeviceMemory memory;
    std::size_t used_bytes = 0;
    CudaEvent begun{CudaEvent::Timing::kOn};
    CudaEvent arrived{CudaEvent::Timing::kOn};
    CudaEvent read;  // by the model; holds nothing back before it was first recorded
  };

  CudaStreamView compute_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  CudaStream prefetch_;
};

}  // namespace tailrace
