#pragma once

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include <memory>
#include <optional>

#include "config/config.hpp"
#include "producer/device.hpp"

namespace tailrace {

/// The Torch name of `device`.
at::Device torch_device_of(const Device& device);

/// Sets what holds for the whole process: Torch's part for the device started, TF32 on or off, convolution
/// algorithms found by measuring (shapes are constant). Called before the first ComputeScope.
void prepare_process(const Device& device, Precision precision);

/// The floating-point type that `precision` computes in.
at::ScalarType compute_type_of(Precision precision);

/// While it lives, the calling thread computes on `device`, on its compute stream, in inference mode, and
/// with autocast to `autocast` if given. Everything that touches tensors runs inside one of these.
class ComputeScope {
 public:
  explicit ComputeScope(const Device& device, std::optional<at::ScalarType> autocast = std::nullopt);
  ComputeScope(const ComputeScope&) = delete;
  ComputeScope& operator=(const ComputeScope&) = delete;
  ~ComputeScope();

 private:
  struct Guards;
  std::unique_ptr<Guards> guards_;
};

/// Waits for the compute stream; throws what failed in it. Inside a ComputeScope.
void finish_work(const Device& device);

/// Gives the allocator's unused device memory back.
void release_cached_memory(const Device& device);

}  // namespace tailrace
