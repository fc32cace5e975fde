#pragma once

#include <chrono>
#include <cstdint>

namespace tailrace {

/// CLOCK_MONOTONIC: the same for all processes of a machine, stands still while it sleeps, knows no wall
/// clock jumps.
inline std::uint64_t monotonic_ns() noexcept {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
}

}  // namespace tailrace
