#pragma once

#include "producer/device.hpp"

namespace tailrace {

/// Marks the steps that a profiler is to record: `nsys profile --capture-range=cudaProfilerApi` records while
/// one of these lives. On the CPU, and without such a tool, it does nothing. Used by the model's thread.
class Capture {
 public:
  /// Begins. Throws CudaError.
  explicit Capture(const Device& device);
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  ~Capture();

 private:
  bool begun_ = false;
};

}  // namespace tailrace
