#pragma once

#include "producer/device.hpp"

namespace tailrace {

/// Brackets what `nsys profile --capture-range=cudaProfilerApi` records.
class CudaCapture final : public Capture {
 public:
  /// Throws CudaError.
  CudaCapture();
  ~CudaCapture() override;
};

}  // namespace tailrace
