#include "producer/torch/torchscript_network.hpp"

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include <algorithm>
#include <filesystem>

#include "producer/errors.hpp"
#include "producer/torch/compute_scope.hpp"
#include "producer/torch/output_tree.hpp"
#include "producer/torch/torch_errors.hpp"

namespace tailrace {
namespace {

torch::jit::Module load_script(const std::string& path, at::Device device) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    throw ModelError("model.path " + path + " is not there, or not a file");
  return translated(path + " cannot be loaded as TorchScript (save it with torch.jit.save)", [&] {
    torch::jit::Module module = torch::jit::load(path, device);
    module.eval();
    return module;
  });
}

}  // namespace

struct TorchscriptNetwork::Script {
  torch::jit::Module module;
};

TorchscriptNetwork::TorchscriptNetwork(const ModelConfig& config, const Device& device)
    : script_(std::make_unique<Script>(Script{load_script(config.path, torch_device_of(device))})),
      precision_(config.precision) {
  try {
    script_->module = torch::jit::freeze(script_->module);
  } catch (const std::exception& error) {
    notes_.push_back("the TorchScript module runs as it is, it cannot be frozen: " +
                     essence_of(error.what()));
  }
  for (const at::Tensor& tensor : script_->module.parameters()) state_.push_back(tensor);
  for (const at::Tensor& tensor : script_->module.buffers()) state_.push_back(tensor);
}

TorchscriptNetwork::~TorchscriptNetwork() = default;

std::optional<at::ScalarType> TorchscriptNetwork::autocast() const {
  const at::ScalarType type = compute_type_of(precision_);
  if (type == at::kFloat) return std::nullopt;
  return type;
}

bool TorchscriptNetwork::is_own_state(const at::Tensor& tensor) const {
  return std::ranges::any_of(state_, [&](const at::Tensor& own) {
    return tensor.layout() == at::kStrided && own.layout() == at::kStrided && tensor.is_alias_of(own);
  });
}

std::vector<OutputLeaf> TorchscriptNetwork::forward(const at::Tensor& input, BatchNumber) {
  std::vector<OutputLeaf> leaves = leaves_of(script_->module.forward({input}));
  // A buffer that the module returns would change under its reader with the next batch.
  for (OutputLeaf& leaf : leaves)
    if (leaf.tensor.defined() && is_own_state(leaf.tensor)) leaf.tensor = leaf.tensor.clone();
  return leaves;
}

}  // namespace tailrace
