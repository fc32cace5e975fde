#include "producer/torch/torch_model.hpp"

#include <utility>

#include "producer/errors.hpp"
#include "producer/torch/compute_scope.hpp"
#include "producer/torch/graphed_network.hpp"
#include "producer/torch/output_tree.hpp"
#include "producer/torch/torch_errors.hpp"

namespace tailrace {

TorchModel::TorchModel(Parts parts, Device& device) : device_(device), parts_(std::move(parts)) { probe(); }

TorchModel::~TorchModel() = default;

void TorchModel::probe() {
  // A just-in-time compiler and the choice of convolution algorithms need a few runs to settle on a GPU.
  const int runs = device_.is_cuda() ? 3 : 1;
  translated("the first batch failed on " + device_.description(), [&] {
    const ComputeScope scope(device_);
    const at::Tensor zeros = parts_.input.zeros();
    const ModelInput input{BatchNumber{0}, static_cast<std::size_t>(parts_.rules.batch_size),
                           bytes_of(zeros)};
    for (int i = 0; i < runs; ++i) probed_ = run(input);
    finish_work(device_);
    if (!device_.is_cuda()) return;
    const ComputeScope computing(device_, parts_.network->autocast());
    parts_.network = with_graph(std::move(parts_.network), parts_.input.convert(input.bytes), parts_.graph);
  });
  for (OutputTensor& output : probed_) {
    output.data = nullptr;
    output.keep_alive.reset();
  }
}

std::vector<OutputTensor> TorchModel::run(const ModelInput& input) {
  try {
    return run_once(input);
  } catch (const OutOfDeviceMemory&) {
    release_cached_memory(device_);
  }
  return run_once(input);
}

std::vector<OutputTensor> TorchModel::run_once(const ModelInput& input) {
  const auto rows = static_cast<std::int64_t>(input.row_count);
  if (rows > parts_.rules.batch_size)
    throw ModelError("a batch of at most " + std::to_string(parts_.rules.batch_size) +
                     " rows was expected, got " + std::to_string(rows));
  return translated("batch " + std::to_string(value_of(input.number)) + " failed on " + device_.description(),
                    [&] {
                      const ComputeScope scope(device_, parts_.network->autocast());
                      const at::Tensor tensor = parts_.input.convert(input.bytes);
                      std::vector<OutputTensor> outputs;
                      for (const OutputLeaf& leaf : select(forward(tensor, input.number), parts_.outputs))
                        outputs.push_back(make_output(leaf, rows, parts_.rules));
                      return outputs;
                    });
}

std::vector<OutputLeaf> TorchModel::forward(const at::Tensor& input, BatchNumber number) {
  const std::string doing = "the model fails on batch " + std::to_string(value_of(number)) +
                            ", an input of " + describe(input) + " on " + device_.description();
  return translated(doing, [&] { return parts_.network->forward(input, number); });
}

}  // namespace tailrace
