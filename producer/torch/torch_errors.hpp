#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace tailrace {

/// The one line of a Torch message that says what happened: without C++ frames and without the TorchScript
/// stack that is put before it.
std::string essence_of(std::string_view message);

/// Call in a catch block. Throws what is being handled as one of producer/errors.hpp: OutOfDeviceMemory,
/// CudaError, else ModelError; errors of the project and std::bad_alloc pass as they are. `doing` begins the
/// message: "model.pt does not load".
[[noreturn]] void rethrow_translated(std::string_view doing);

/// Runs `work`; nothing that Torch throws gets out untranslated.
template <typename Work>
auto translated(std::string_view doing, Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (...) {
    rethrow_translated(doing);
  }
}

}  // namespace tailrace
