#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "ctl/bench/child_signals.hpp"

namespace tailrace {

/// One producer and its consumers, each a process of its own, on a ring of small slots in /dev/shm, with no
/// device and no configuration: the hand-over itself.
struct RingHandoffLoad {
  std::uint32_t slots = 64;
  std::uint32_t consumers = 1;  // all in one group
  std::uint64_t batches = 0;    // at least 1
  std::chrono::nanoseconds pause{
      0};  // before each publication: consumers are then waiting, and latency is all
  std::chrono::nanoseconds spin{0};  // busy look for the other side before sleeping
};

struct RingHandoffFigures {
  std::vector<std::uint64_t> latencies_ns;  // from publication to lease, of every batch
  double handovers_per_s = 0;
};

/// Whatever happens, no process and no ring is left. Throws BenchError when interrupted, or when a batch was
/// not handed over exactly once.
RingHandoffFigures measure_ring_handoff(const RingHandoffLoad& load, const ChildSignals& signals);

/// How long one look at a ring of this many slots takes in which there is nothing to lease.
double measure_lease_scan_ns(std::size_t slots);

}  // namespace tailrace
