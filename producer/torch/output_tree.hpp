#pragma once

#include <ATen/core/ivalue.h>

#include <vector>

#include "producer/torch/network.hpp"

namespace tailrace {

/// The leaves of what a TorchScript module returned, in order, named by their path: a dict's key, the index
/// in a tuple or list, joined by dots ("a.0"). A value that is itself a leaf is called "out".
std::vector<OutputLeaf> leaves_of(const at::IValue& value);

/// "out: float32 [2, 21, 65, 97]; aux: None": for messages.
std::string describe(const std::vector<OutputLeaf>& leaves);
std::string describe(const at::Tensor& tensor);

/// The leaves called `wanted`, in that order. The default wish ["out"] takes the only tensor where there is
/// just one, whatever its name. Throws ModelError with the list of what there is.
std::vector<OutputLeaf> select(const std::vector<OutputLeaf>& leaves, const std::vector<std::string>& wanted);

}  // namespace tailrace
