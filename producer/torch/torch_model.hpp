#pragma once

#include <memory>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "producer/model.hpp"
#include "producer/torch/input_converter.hpp"
#include "producer/torch/network.hpp"
#include "producer/torch/output_tensor.hpp"

namespace tailrace {

/// What all kinds of models share: input conversion, the thread's Torch state, choice and checks of outputs,
/// and a second try when device memory runs out.
class TorchModel final : public Model {
 public:
  struct Parts {
    std::unique_ptr<Network> network;
    InputConverter input;
    OutputRules rules;
    std::vector<std::string> outputs;
    CudaGraph graph = CudaGraph::kOff;
  };

  /// Runs batches of zeros until the model is warm, and keeps the shapes that it finds. `device` outlives it.
  TorchModel(Parts parts, Device& device);
  ~TorchModel() override;

  std::vector<OutputTensor> run(const ModelInput& input) override;
  [[nodiscard]] const std::vector<OutputTensor>& probed_outputs() const override { return probed_; }
  [[nodiscard]] std::string description() const override { return parts_.network->description(); }
  [[nodiscard]] std::vector<std::string> notes() const override { return parts_.network->notes(); }

 private:
  void probe();
  std::vector<OutputTensor> run_once(const ModelInput& input);
  [[nodiscard]] std::vector<OutputLeaf> forward(const at::Tensor& input, BatchNumber number);

  Device& device_;
  Parts parts_;
  std::vector<OutputTensor> probed_;
};

}  // namespace tailrace
