#pragma once

#include <ATen/core/Tensor.h>

#include "config/config.hpp"
#include "producer/device.hpp"
#include "producer/input.hpp"

namespace tailrace {

/// From a batch's bytes in host memory to the tensor that the network sees. Images (uint8 [B, H, W, 3])
/// become float32 [B, 3, H, W] on the device: divided by 255, then (x - mean) / std per channel. Everything
/// else keeps its dtype and shape. Always the whole batch size, so that a network sees one shape.
class InputConverter {
 public:
  /// Throws ModelError where mean and std do not fit the channels.
  InputConverter(const InputSpec& spec, const SourceConfig& source, const Device& device);

  /// Inside a ComputeScope. The copy to the device is only enqueued. The result is the caller's to change.
  at::Tensor convert(const InputBatch& batch);

  [[nodiscard]] std::size_t batch_bytes() const { return batch_bytes_; }

 private:
  at::Tensor upload(const InputBatch& batch) const;
  [[nodiscard]] at::Tensor normalised(const at::Tensor& images) const;

  at::Device device_;
  at::ScalarType type_;
  std::vector<std::int64_t> shape_;  // with the batch
  std::size_t batch_bytes_;
  bool image_;
  at::Tensor scale_;     // [1, C, 1, 1]
  at::Tensor shift_;     // [1, C, 1, 1]
  at::Tensor resident_;  // of a batch that is the same every time
};

}  // namespace tailrace
