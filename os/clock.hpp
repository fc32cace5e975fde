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

/// Seconds since a moment of monotonic_ns(); 0 for none (0), and for one to come.
inline double seconds_since(std::uint64_t ns) noexcept {
  const std::uint64_t now = monotonic_ns();
  return ns == 0 || ns > now ? 0 : static_cast<double>(now - ns) / 1e9;
}

}  // namespace tailrace
