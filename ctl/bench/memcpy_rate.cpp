#include "ctl/bench/memcpy_rate.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "os/clock.hpp"

namespace tailrace {

double measure_memcpy_bytes_per_s(std::size_t buffer_bytes) {
  constexpr std::size_t kMostBytes = 256u << 20;
  constexpr std::uint64_t kLongEnoughNs = 250'000'000;
  const std::vector<std::byte> source(std::clamp<std::size_t>(buffer_bytes, 1, kMostBytes), std::byte{1});
  std::vector<std::byte> destination(source.size());
  std::uint64_t copied = 0;
  const std::uint64_t start = monotonic_ns();
  std::uint64_t elapsed_ns = 0;
  do {
    std::memcpy(destination.data(), source.data(), source.size());
    copied += source.size();
    elapsed_ns = monotonic_ns() - start;
  } while (elapsed_ns < kLongEnoughNs);
  // A copy that nobody looks at might be left out by the compiler.
  if (destination != source) throw std::logic_error("memcpy did not copy");
  return static_cast<double>(copied) * 1e9 / static_cast<double>(std::max<std::uint64_t>(1, elapsed_ns));
}

}  // namespace tailrace
