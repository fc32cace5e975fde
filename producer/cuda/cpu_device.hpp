#pragma once

#include <string>

#include "producer/device.hpp"

namespace tailrace {

/// The model runs on the CPU: "device memory" is plain host memory.
class CpuDevice final : public Device {
 public:
  /// `reason`: why the CPU was taken; empty when it was asked for.
  explicit CpuDevice(std::string reason = {});

  [[nodiscard]] std::string description() const override;
  [[nodiscard]] bool is_cuda() const override { return false; }
  [[nodiscard]] int index() const override { return 0; }
  /// Page-aligned memory, not initialised.
  std::unique_ptr<HostMemory> allocate(std::size_t bytes) override;
  void copy_to_host(std::span<std::byte> destination, const void* source) override;
  std::unique_ptr<Pin> pin(std::span<std::byte> memory) override;
  std::unique_ptr<Uploader> make_uploader(std::size_t lane_bytes, std::size_t lane_count) override;
  std::unique_ptr<ComputeClock> make_compute_clock() override;
  std::optional<LinkFigures> measure_link(std::span<std::byte>) override { return std::nullopt; }
  std::unique_ptr<Copier> make_copier(CopyStream stream, std::size_t lane_count) override;

 private:
  std::string reason_;
};

}  // namespace tailrace
