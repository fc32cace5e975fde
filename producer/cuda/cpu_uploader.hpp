#pragma once

#include <vector>

#include "os/failpoint.hpp"
#include "producer/uploader.hpp"

namespace tailrace {

/// The model reads the input where it is.
class CpuUploader final : public Uploader {
 public:
  explicit CpuUploader(std::size_t lane_count) : lanes_(lane_count) {}

  void submit(std::size_t lane, std::span<const std::byte> input) override { lanes_[lane] = input; }
  std::span<const std::byte> acquire(std::size_t lane) override { return lanes_[lane]; }
  void release(std::size_t) override {}
  std::chrono::nanoseconds wait(std::size_t) override {
    const auto begun = std::chrono::steady_clock::now();
    failpoint("mid_upload");
    return std::chrono::steady_clock::now() - begun;
  }

 private:
  std::vector<std::span<const std::byte>> lanes_;
};

}  // namespace tailrace
