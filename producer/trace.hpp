#pragma once

#include <memory>
#include <string>

#include "producer/device.hpp"

namespace tailrace {

/// Records what the model's thread and the device do between start() and stop(), and writes it as a timeline
/// for Perfetto or chrome://tracing (LibTorch's Kineto: operators, and on CUDA kernels and copies). Made and
/// used by the model's thread; one at a time in a process.
class TraceRecorder {
 public:
  TraceRecorder() = default;
  TraceRecorder(const TraceRecorder&) = delete;
  TraceRecorder& operator=(const TraceRecorder&) = delete;
  virtual ~TraceRecorder() = default;  // what is being recorded then is not written

  /// Begins. Throws ModelError or CudaError when LibTorch cannot.
  virtual void start() = 0;

  /// Ends what start() began and writes the file: under a temporary name first, so that the final one only
  /// ever holds a complete trace. Finish the device's work before; what is still queued is cut off. Throws
  /// std::system_error with the path (a full disk, say).
  virtual void stop() = 0;
};

/// `path`: the file to write, in a folder that is there; a file of that name is replaced. Refused before
/// anything is recorded: std::invalid_argument for a path that no file can have, std::system_error for a
/// folder that may not be written to.
std::unique_ptr<TraceRecorder> make_trace_recorder(const std::string& path, const Device& device);

}  // namespace tailrace
