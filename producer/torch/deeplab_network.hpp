#pragma once

#include <memory>

#include "config/config.hpp"
#include "producer/device.hpp"
#include "producer/torch/network.hpp"

namespace tailrace {

class DeepLabV3;

/// deeplabv3_resnet50 with weights from `config.path`, or random ones from `config.seed` where that is empty
/// (said in notes()). bf16 and fp16 keep weights and activations in that type, channels last.
class DeepLabNetwork final : public Network {
 public:
  DeepLabNetwork(const ModelConfig& config, const Device& device);
  ~DeepLabNetwork() override;

  std::vector<OutputLeaf> forward(const at::Tensor& input, BatchNumber number) override;
  [[nodiscard]] std::vector<std::string> notes() const override { return notes_; }

 private:
  std::shared_ptr<DeepLabV3> net_;
  at::ScalarType type_;
  std::vector<std::string> notes_;
};

}  // namespace tailrace
