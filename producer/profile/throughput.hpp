#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "shm/counters.hpp"

namespace tailrace {

/// What a producer has done up to one moment, in its own counters.
struct ThroughputSample {
  std::uint64_t time_ns = 0;  // CLOCK_MONOTONIC
  std::uint64_t steps = 0;
  std::uint64_t items = 0;
  std::uint64_t bytes = 0;
  std::uint64_t compute_ns = 0;
  std::uint64_t input_wait_ns = 0;
  std::uint64_t slot_wait_ns = 0;
};

ThroughputSample sample_throughput(const CounterBlock& producer);

/// What happened between two moments. With nothing in flight at both, compute_s / wall_s is the share of the
/// time during which the device was busy.
struct Throughput {
  double wall_s = 0;
  std::uint64_t steps = 0;  // batches
  std::uint64_t items = 0;
  std::uint64_t bytes = 0;  // of outputs
  double compute_s = 0;     // between the first and the last kernel of each batch
  double input_wait_s = 0;  // no decoded input was there
  double slot_wait_s = 0;   // no slot of the ring was free, or all was published and not yet read

  [[nodiscard]] double per_second(double amount) const { return wall_s > 0 ? amount / wall_s : 0; }
  [[nodiscard]] double busy() const { return per_second(compute_s); }
  /// As limit_of(): "compute", "input" (too few decoders), "slots" (consumers too slow), "egress" (the copies
  /// out, and all that is not told apart from them).
  [[nodiscard]] std::string_view limited_by() const;
};

Throughput throughput_between(const ThroughputSample& begin, const ThroughputSample& end);

/// One line for people.
std::string throughput_text(const Throughput& throughput);

}  // namespace tailrace
