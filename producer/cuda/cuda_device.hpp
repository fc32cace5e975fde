#pragma once

#include <string>

#include "producer/cuda/stream.hpp"
#include "producer/device.hpp"

namespace tailrace {

/// What the CUDA runtime finds: a count, and where it is 0 because of an error, the error in words.
struct CudaPresence {
  int device_count = 0;
  std::string problem;
};

/// Never throws for a missing driver or GPU: that is an answer.
CudaPresence find_cuda_devices();

/// One CUDA device with a compute stream of its own; the default stream is never used. Makes the device
/// current in the thread that constructs it.
class CudaDevice final : public Device {
 public:
  /// Precondition: 0 <= index < find_cuda_devices().device_count. Throws CudaError.
  explicit CudaDevice(int index);

  [[nodiscard]] std::string description() const override { return description_; }
  [[nodiscard]] bool is_cuda() const override { return true; }
  [[nodiscard]] int index() const override { return index_; }
  [[nodiscard]] int numa_node() const override;
  /// Pinned memory. Throws OutOfDeviceMemory when it cannot be had.
  std::unique_ptr<HostMemory> allocate(std::size_t bytes) override;
  void copy_to_host(std::span<std::byte> destination, const void* source) override;
  std::unique_ptr<Pin> pin(std::span<std::byte> memory) override;
  std::unique_ptr<Copier> make_copier(CopyStream stream, std::size_t lane_count) override;
  std::unique_ptr<Uploader> make_uploader(std::size_t lane_bytes, std::size_t lane_count) override;
  std::unique_ptr<ComputeClock> make_compute_clock() override;
  std::unique_ptr<Capture> make_capture() override;
  std::optional<LinkFigures> measure_link(std::span<std::byte> target) override;
  [[nodiscard]] CUstream_st* compute_stream() const override { return compute_.view().handle(); }

 private:
  int index_;
  std::string description_;
  CudaStream compute_;
};

}  // namespace tailrace
