#include "producer/torch/synthetic_network.hpp"

#include <ATen/ops/add.h>
#include <ATen/ops/arange.h>

#include "producer/torch/compute_scope.hpp"
#include "producer/torch/dtype.hpp"
#include "producer/torch/synthetic_values.hpp"

namespace tailrace {

SyntheticNetwork::SyntheticNetwork(const ModelConfig& config, std::int64_t batch_size, const Device& device)
    : dtype_(config.dtype) {
  const auto modulus = static_cast<std::int64_t>(synthetic_modulus(dtype_));
  const auto options = at::TensorOptions().dtype(at::kLong).device(torch_device_of(device));
  const auto remainders = [&](std::int64_t count, std::int64_t step) {
    return at::arange(count, options).mul_(step).remainder_(modulus).to(at::kInt);
  };
  std::vector<std::int64_t> shape{batch_size};
  std::int64_t positions = 1;
  for (const std::int64_t size : config.shape) {
    shape.push_back(size);
    positions *= size;
  }
  const at::Tensor rows = remainders(batch_size, kSyntheticRowStep).unsqueeze(1);
  first_ = at::add(rows, remainders(positions, 1)).remainder_(modulus).view(shape);
}

std::vector<OutputLeaf> SyntheticNetwork::forward(const at::Tensor&, BatchNumber number) {
  const auto shift = static_cast<std::int64_t>(synthetic_value(dtype_, number, 0, 0));
  const auto modulus = static_cast<std::int64_t>(synthetic_modulus(dtype_));
  return {{"out", at::add(first_, shift).remainder_(modulus).to(scalar_type_of(dtype_)), "Tensor"}};
}

}  // namespace tailrace
