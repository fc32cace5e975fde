#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <vector>

#include "shm/ids.hpp"

namespace tailrace {

/// One leaf of what a network returned. `tensor` is undefined for a leaf that is none; `type` then names it.
struct OutputLeaf {
  std::string name;
  at::Tensor tensor;
  std::string type;
};

/// One kind of model: from an input tensor on the device to named outputs. Choosing, checking and cutting the
/// outputs is TorchModel's. Constructors and forward() run inside a ComputeScope and may throw what Torch
/// throws.
class Network {
 public:
  Network() = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  virtual ~Network() = default;

  virtual std::vector<OutputLeaf> forward(const at::Tensor& input, BatchNumber number) = 0;

  /// The type that forward() wants autocast to; empty where the network keeps its own types.
  [[nodiscard]] virtual std::optional<at::ScalarType> autocast() const { return std::nullopt; }
  [[nodiscard]] virtual std::vector<std::string> notes() const { return {}; }
  /// Whether forward() enqueues the same work for every batch, so that it can be recorded once.
  [[nodiscard]] virtual bool repeats_its_work() const { return true; }
  /// How it runs, where there is something to say: "as a CUDA graph".
  [[nodiscard]] virtual std::string description() const { return {}; }
};

}  // namespace tailrace
