#pragma once

#include <span>

#include "config/config.hpp"
#include "shm/batch_view.hpp"

namespace tailrace {

/// Whether a sink can take a model's outputs, before the first batch: their names, shapes and dtypes are
/// looked at, not their bytes. Throws std::runtime_error saying what the sink wants and what there is.
void check_outputs(const SinkConfig& config, std::span<const TensorView> outputs);

}  // namespace tailrace
