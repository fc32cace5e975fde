#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "producer/input.hpp"

namespace tailrace {

/// Where the model runs, as far as moving bytes is concerned. No LibTorch behind it.
class Device : public HostAllocator {
 public:
  /// "cpu", "cuda:0 (NVIDIA H200)".
  [[nodiscard]] virtual std::string description() const = 0;
  [[nodiscard]] virtual bool is_cuda() const = 0;
  [[nodiscard]] virtual int index() const = 0;

  /// Copies `bytes` from device memory at `source`, after all work that the model enqueued so far, and
  /// returns when they have arrived. Throws CudaError. Called by the thread that runs the model.
  virtual void copy_to_host(std::span<std::byte> destination, const void* source) = 0;
};

}  // namespace tailrace
