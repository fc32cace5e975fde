#pragma once

#include <cstdint>

#include "os/clock.hpp"

namespace tailrace {

/// Tells the core that this thread only waits for memory to change.
inline void cpu_relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Looks until `done()` holds or `end_ns` (CLOCK_MONOTONIC) has passed, at least once; says whether it held.
template <class Done>
bool spin_until(std::uint64_t end_ns, Done done) {
  do {
    if (done()) return true;
    cpu_relax();
  } while (monotonic_ns() < end_ns);
  return false;
}

}  // namespace tailrace
