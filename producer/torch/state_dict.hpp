#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>

namespace tailrace {

/// Names to tensors in host memory, as PyTorch's state_dict().
using StateDict = std::map<std::string, at::Tensor>;

/// Reads a weight file: `.safetensors`, else what torch.save wrote (a state_dict, or a checkpoint that holds
/// one under "state_dict" or "model"). Reads data only: no code of the file runs. Throws ModelError with the
/// path for a file that is missing, damaged or of another kind.
StateDict read_state_dict(const std::string& path);

/// Copies `from` into `into`, whose tensors keep their dtype and device. Names of `from` that begin with
/// `ignored_prefix` are left out; num_batches_tracked may be missing. Throws ModelError with the first ten
/// names that are missing, unexpected or of another shape; `into` is then unchanged.
void copy_state(const StateDict& from, const StateDict& into, const std::string& path,
                const std::string& ignored_prefix);

}  // namespace tailrace
