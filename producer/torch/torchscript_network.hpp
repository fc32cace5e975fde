#pragma once

#include <memory>

#include "config/config.hpp"
#include "producer/device.hpp"
#include "producer/torch/network.hpp"

namespace tailrace {

/// Any TorchScript module that takes one tensor. bf16 and fp16 run it under autocast: its weights keep their
/// type, and the operations that gain by it compute in the narrow one. A TorchScript file is code: it can do
/// what this process can, so load only files that are trusted like programs.
class TorchscriptNetwork final : public Network {
 public:
  TorchscriptNetwork(const ModelConfig& config, const Device& device);
  ~TorchscriptNetwork() override;

  std::vector<OutputLeaf> forward(const at::Tensor& input, BatchNumber number) override;
  [[nodiscard]] std::optional<at::ScalarType> autocast() const override;
  [[nodiscard]] std::vector<std::string> notes() const override { return notes_; }

 private:
  struct Script;
  [[nodiscard]] bool is_own_state(const at::Tensor& tensor) const;

  std::unique_ptr<Script> script_;
  Precision precision_;
  std::vector<at::Tensor> state_;  // parameters and buffers that forward() may change
  std::vector<std::string> notes_;
};

}  // namespace tailrace
