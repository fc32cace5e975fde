#pragma once

#include <string>

#include "producer/torch/state_dict.hpp"

namespace tailrace {

/// Reads the tensors of what torch.save wrote (PyTorch 1.6 or newer): a state_dict, or a checkpoint that
/// holds one under "state_dict" or "model". The pickle is read as data: none of its code runs, objects other
/// than tensors are left out. Throws ModelError.
StateDict read_checkpoint(const std::string& path);

}  // namespace tailrace
