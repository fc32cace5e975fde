#include "producer/torch/graphed_network.hpp"

#include <array>
#include <cstdio>
#include <utility>

#ifdef TAILRACE_WITH_CUDA
#include <ATen/cuda/CUDAEvent.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAStream.h>
#endif

namespace tailrace {

#ifdef TAILRACE_WITH_CUDA
namespace {

constexpr int kMeasuredRuns = 5;
constexpr BatchNumber kAnyBatch{0};

/// Replays what `network` enqueued for one batch. The graph writes its outputs to the same memory every time,
/// so they are copied on the device: the next batch need not wait until this one has left.
class GraphedNetwork final : public Network {
 public:
  /// Does not own `network` before adopt().
  GraphedNetwork(Network& network, const at::Tensor& input) : input_(input.clone()) {
    graph_.capture_begin();
    try {
      outputs_ = network.forward(input_, kAnyBatch);
    } catch (...) {
      end_broken_capture();
      throw;
    }
    graph_.capture_end();
  }

  void adopt(std::unique_ptr<Network> network, std::string description) {
    network_ = std::move(network);
    description_ = std::move(description);
  }

  std::vector<OutputLeaf> forward(const at::Tensor& input, BatchNumber) override {
    input_.copy_(input);
    graph_.replay();
    std::vector<OutputLeaf> outputs = outputs_;
    for (OutputLeaf& output : outputs)
      if (output.tensor.defined()) output.tensor = output.tensor.clone();
    return outputs;
  }

  [[nodiscard]] std::optional<at::ScalarType> autocast() const override { return network_->autocast(); }
  [[nodiscard]] std::vector<std::string> notes() const override { return network_->notes(); }
  [[nodiscard]] std::string description() const override { return description_; }

 private:
  void end_broken_capture() noexcept {
    try {
      graph_.capture_end();
    } catch (...) {
      // It says again that the capture is broken, and has ended it.
    }
  }

  std::unique_ptr<Network> network_;  // its weights are what the graph reads
  at::Tensor input_;
  at::cuda::CUDAGraph graph_;
  std::vector<OutputLeaf> outputs_;
  std::string description_;
};

double measure_ms(Network& network, const at::Tensor& input) {
  network.forward(input, kAnyBatch);
  at::cuda::CUDAEvent begun(cudaEventDefault);
  at::cuda::CUDAEvent ended(cudaEventDefault);
  begun.record();
  for (int i = 0; i < kMeasuredRuns; ++i) network.forward(input, kAnyBatch);
  ended.record();
  ended.synchronize();
  return static_cast<double>(begun.elapsed_time(ended)) / kMeasuredRuns;
}

std::string in_ms(double ms) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f ms", ms);
  return text.data();
}

std::unique_ptr<GraphedNetwork> captured(Network& network, const at::Tensor& input, CudaGraph mode) {
  try {
    return std::make_unique<GraphedNetwork>(network, input);
  } catch (const std::exception&) {  // TorchScript has errors of its own
    if (mode == CudaGraph::kOn) throw;
    return nullptr;
  }
}

}  // namespace

std::unique_ptr<Network> with_graph(std::unique_ptr<Network> network, const at::Tensor& input,
                                    CudaGraph mode) {
  if (mode == CudaGraph::kOff || !network->repeats_its_work()) return network;
  auto graphed = captured(*network, input, mode);
  if (!graphed) return network;
  const double plain_ms = measure_ms(*network, input);
  const double graph_ms = measure_ms(*graphed, input);
  if (mode == CudaGraph::kAuto && graph_ms >= plain_ms) return network;
  graphed->adopt(std::move(network),
                 "as a CUDA graph: " + in_ms(graph_ms) + " a batch, " + in_ms(plain_ms) + " without");
  return graphed;
}

#else

std::unique_ptr<Network> with_graph(std::unique_ptr<Network> network, const at::Tensor&, CudaGraph) {
  return network;
}

#endif

}  // namespace tailrace
