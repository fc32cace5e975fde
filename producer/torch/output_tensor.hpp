#pragma once

#include <optional>

#include "producer/model.hpp"
#include "producer/torch/network.hpp"

namespace tailrace {

/// What every output of a model is prepared with.
struct OutputRules {
  at::Device device;
  std::int64_t batch_size = 0;
  std::optional<Dtype> dtype;  // to convert to
};

/// Makes an output ready for a copy of its bytes: cut to `rows` where its first size is the batch size,
/// converted where wanted, and dense. A dense tensor in any stride order is handed out as it is; everything
/// else (expanded, with holes, conjugated lazily) is made contiguous on the current stream. Throws ModelError
/// for what has no bytes to copy: sparse or nested tensors, dtypes without a name here, another device.
OutputTensor make_output(const OutputLeaf& leaf, std::int64_t rows, const OutputRules& rules);

}  // namespace tailrace
