#pragma once

#include <memory>

#include "config/config.hpp"
#include "producer/torch/network.hpp"

namespace tailrace {

/// `network` so that a batch's work is launched as one CUDA graph, where `mode` wants that: kOn always, kAuto
/// where it is faster for `input`, measured here. Otherwise, and where the network cannot be captured
/// (kAuto), `network` as it came. Inside a ComputeScope on a CUDA device, after the network's warm-up. Throws
/// what Torch throws.
std::unique_ptr<Network> with_graph(std::unique_ptr<Network> network, const at::Tensor& input,
                                    CudaGraph mode);

}  // namespace tailrace
