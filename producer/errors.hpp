#pragma once

#include <stdexcept>

namespace tailrace {

/// A model that cannot be used as configured; the message says what was wanted and what was found.
class ModelError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The GPU failed. Fatal for the process: the context may be gone, unpublished slots stay FILLING.
class CudaError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The configured device is not there.
class NoSuchDevice : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Host memory cannot be pinned; the message has how much, and the reason.
class CannotPin : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Out of device memory, also after the allocator's cache was emptied: another try may succeed.
class OutOfDeviceMemory : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace tailrace
