#pragma once

#include <ATen/core/Tensor.h>

#include <span>

#include "config/config.hpp"
#include "producer/device.hpp"
#include "producer/input.hpp"

namespace tailrace {

/// From a batch's bytes on the device to the tensor that the network sees. Images (uint8 [B, H, W, 3])
/// become float32 [B, 3, H, W] on the device: divided by 255, then (x - mean) / std per channel. Everything
/// else keeps its dtype and shape. Always the whole batch size, so that a network sees one shape.
class InputConverter {
 public:
  /// Throws ModelError where mean and std do not fit the channels.
  InputConverter(const InputSpec& spec, const SourceConfig& source, const Device& device);

  /// Inside a ComputeScope, as zeros(). With CUDA the work is only enqueued. The result is the caller's to
  /// change. Throws ModelError for another number of bytes.
  [[nodiscard]] at::Tensor convert(std::span<const std::byte> batch) const;

  /// A batch of zeros on the device, as convert() takes it.
  [[nodiscard]] at::Tensor zeros() const;

 private:
  [[nodiscard]] at::Tensor normalised(const at::Tensor& images) const;

  at::Device device_;
  at::ScalarType type_;
  std::vector<std::int64_t> shape_;  // with the batch
  std::size_t batch_bytes_;
  bool image_;
  at::Tensor scale_;  // [1, C, 1, 1]
  at::Tensor shift_;  // [1, C, 1, 1]
};

/// The memory of a contiguous tensor.
std::span<const std::byte> bytes_of(const at::Tensor& tensor);

}  // namespace tailrace
