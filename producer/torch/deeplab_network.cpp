#include "producer/torch/deeplab_network.hpp"

#include <ATen/Context.h>

#include <cmath>

#include "producer/errors.hpp"
#include "producer/torch/compute_scope.hpp"
#include "producer/torch/deeplab_v3.hpp"
#include "producer/torch/output_tree.hpp"
#include "producer/torch/state_dict.hpp"

namespace tailrace {
namespace {

StateDict state_of(const DeepLabV3& net) {
  StateDict state;
  for (const auto& entry : net.named_parameters()) state.emplace(entry.key(), entry.value());
  for (const auto& entry : net.named_buffers()) state.emplace(entry.key(), entry.value());
  return state;
}

/// Keeps the spread of the activations through the layers, so that random logits look like logits.
void randomise(const DeepLabV3& net) {
  for (const at::Tensor& weight : net.parameters()) {
    if (weight.dim() != 4) continue;
    const auto fan_out = static_cast<double>(weight.size(0) * weight.size(2) * weight.size(3));
    weight.normal_(0.0, std::sqrt(2.0 / fan_out));
  }
}

at::MemoryFormat format_for(at::ScalarType type) {
  return type == at::kFloat ? at::MemoryFormat::Contiguous : at::MemoryFormat::ChannelsLast;
}

/// Layers initialise themselves at random when they are made.
std::shared_ptr<DeepLabV3> make_seeded(const ModelConfig& config) {
  at::manual_seed(config.seed);
  return std::make_shared<DeepLabV3>(config.classes);
}

}  // namespace

DeepLabNetwork::DeepLabNetwork(const ModelConfig& config, const Device& device)
    : net_(make_seeded(config)), type_(compute_type_of(config.precision)) {
  if (config.path.empty()) {
    randomise(*net_);
    notes_.push_back("model.path is empty: deeplabv3_resnet50 has RANDOM weights (seed " +
                     std::to_string(config.seed) + "), its outputs mean nothing");
  } else {
    copy_state(read_state_dict(config.path), state_of(*net_), config.path, "aux_classifier.");
  }
  net_->to(torch_device_of(device), type_);
  for (at::Tensor& weight : net_->parameters())
    if (weight.dim() == 4) weight.set_data(weight.contiguous(format_for(type_)));
}

DeepLabNetwork::~DeepLabNetwork() = default;

std::vector<OutputLeaf> DeepLabNetwork::forward(const at::Tensor& input, BatchNumber) {
  if (input.dim() != 4 || input.size(1) != 3 || !input.is_floating_point())
    throw ModelError("deeplabv3_resnet50 takes floating-point [batch, 3, height, width], the source gives " +
                     describe(input));
  return {{"out", net_->forward(input.to(type_, false, false, format_for(type_))), "Tensor"}};
}

}  // namespace tailrace
