#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "ctl/bench/child_signals.hpp"
#include "ctl/bench/latency.hpp"

namespace tailrace {

/// A real producer with batches of 4 KiB and a ring of one slot, and one consumer: the way of a batch from
/// the device to another process.
struct PathLoad {
  std::string device;                 // as pipeline.device takes it
  std::uint64_t batches = 0;          // that count, at least 1
  std::chrono::microseconds spin{0};  // of producer and consumer, before they sleep; 0 = they sleep at once
};

struct PathFigures {
  std::string device;               // as the producer describes it
  LatencyFigures submit_to_lease;   // from "slot taken, copy about to start" to the lease
  LatencyFigures noticed_to_lease;  // from "the producer has seen that the copy is over" to the lease
};

/// Whether this installation has a producer.
bool has_producer_program();

/// Whatever happens, no process, ring or folder is left. Throws BenchError: the producer's exit code, or that
/// of an interruption.
PathFigures measure_path_handoff(const PathLoad& load, const ChildSignals& signals);

}  // namespace tailrace
