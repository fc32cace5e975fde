#pragma once

#include "config/config.hpp"
#include "producer/device.hpp"
#include "producer/torch/network.hpp"

namespace tailrace {

/// One output "out" [batch_size, *shape] whose every element follows from batch number, row and position
/// (synthetic_values.hpp). Almost free to compute: measures and checks everything behind the model.
class SyntheticNetwork final : public Network {
 public:
  SyntheticNetwork(const ModelConfig& config, std::int64_t batch_size, const Device& device);

  [[nodiscard]] bool repeats_its_work() const override { return false; }  // values depend on the batch
  std::vector<OutputLeaf> forward(const at::Tensor& input, BatchNumber number) override;

 private:
  Dtype dtype_;
  at::Tensor first_;  // int32: the values of batch 0
};

}  // namespace tailrace
