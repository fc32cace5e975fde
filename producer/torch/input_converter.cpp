#include "producer/torch/input_converter.hpp"

#include <ATen/ops/from_blob.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include "producer/errors.hpp"
#include "producer/torch/compute_scope.hpp"
#include "producer/torch/dtype.hpp"

namespace tailrace {
namespace {

at::Tensor per_channel(const std::vector<double>& values, at::Device device) {
  const at::Tensor tensor = at::tensor(values, at::TensorOptions().dtype(at::kDouble)).to(at::kFloat);
  return tensor.view({1, static_cast<std::int64_t>(values.size()), 1, 1}).to(device);
}

void require_channels(const InputSpec& spec, const SourceConfig& source) {
  if (spec.item_shape.size() != 3 || spec.dtype != Dtype::kUint8)
    throw ModelError("images must be uint8 [height, width, channels]");
  const auto channels = static_cast<std::size_t>(spec.item_shape[2]);
  if (source.mean.size() != channels || source.std.size() != channels)
    throw ModelError("source.mean has " + std::to_string(source.mean.size()) + " values and source.std " +
                     std::to_string(source.std.size()) + ", but the images have " + std::to_string(channels) +
                     " channels");
}

}  // namespace

InputConverter::InputConverter(const InputSpec& spec, const SourceConfig& source, const Device& device)
    : device_(torch_device_of(device)),
      type_(scalar_type_of(spec.dtype)),
      shape_{static_cast<std::int64_t>(source.batch_size)},
      batch_bytes_(spec.item_bytes() * source.batch_size),
      image_(spec.image) {
  shape_.insert(shape_.end(), spec.item_shape.begin(), spec.item_shape.end());
  if (!image_) return;
  require_channels(spec, source);
  std::vector<double> scale;
  std::vector<double> shift;
  for (std::size_t channel = 0; channel < source.mean.size(); ++channel) {
    scale.push_back(1.0 / (255.0 * source.std[channel]));
    shift.push_back(-source.mean[channel] / source.std[channel]);
  }
  scale_ = per_channel(scale, device_);
  shift_ = per_channel(shift, device_);
}

at::Tensor InputConverter::normalised(const at::Tensor& images) const {
  const at::Tensor planes = images.permute({0, 3, 1, 2}).contiguous();
  return at::mul(planes, scale_).add_(shift_);
}

at::Tensor InputConverter::convert(std::span<const std::byte> batch) const {
  if (batch.size() != batch_bytes_)
    throw ModelError("an input batch of " + std::to_string(batch_bytes_) + " bytes was expected, got " +
                     std::to_string(batch.size()));
  // from_blob wants a pointer to change; nothing here writes to it.
  auto* bytes = const_cast<std::byte*>(batch.data());
  const at::Tensor raw = at::from_blob(bytes, shape_, at::TensorOptions().dtype(type_).device(device_));
  // A model may compute in place, or give its input back: the batch's own memory never gets that far.
  return image_ ? normalised(raw) : raw.clone();
}

at::Tensor InputConverter::zeros() const {
  return at::zeros(shape_, at::TensorOptions().dtype(type_).device(device_));
}

std::span<const std::byte> bytes_of(const at::Tensor& tensor) {
  return {static_cast<const std::byte*>(tensor.const_data_ptr()), tensor.nbytes()};
}

}  // namespace tailrace
