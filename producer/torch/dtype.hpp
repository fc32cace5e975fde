#pragma once

#include <c10/core/ScalarType.h>

#include <optional>

#include "shm/dtype.hpp"

namespace tailrace {

/// The project's element types and Torch's, both ways. Torch has types that the project has not (quantised
/// and packed ones): empty.
at::ScalarType scalar_type_of(Dtype dtype);
std::optional<Dtype> dtype_of(at::ScalarType type);

/// As PyTorch writes it without "torch.": "float32"; Torch's C++ name for a type that the project has not.
std::string_view name_of(at::ScalarType type);

}  // namespace tailrace
