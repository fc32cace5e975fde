#pragma once

#include <string>
#include <utility>

#include "producer/errors.hpp"
#include "shm/ids.hpp"

namespace tailrace {

/// Runs `work`; where the device fails meanwhile, the message begins with the batch.
template <typename Work>
auto naming_batch(BatchNumber batch, Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (const CudaError& error) {
    throw CudaError("batch " + std::to_string(value_of(batch)) + ": " + error.what());
  }
}

}  // namespace tailrace
