#include "producer/egress/tensor_plans.hpp"

namespace tailrace {

std::vector<TensorPlan> tensor_plans(const std::vector<OutputTensor>& tensors) {
  std::vector<TensorPlan> plans;
  plans.reserve(tensors.size());
  for (const OutputTensor& tensor : tensors)
    plans.push_back({tensor.name, tensor.shape, tensor.per_row, tensor.span_bytes, 0});
  return plans;
}

void describe(Filling& filling, const OutputBatch& batch, const SlotPlan& plan) {
  try {
    write_descriptor(filling.bytes(), batch.number, batch.rows, plan);
  } catch (...) {
    filling.abandon();
    throw;
  }
}

}  // namespace tailrace
