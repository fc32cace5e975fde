#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shm/limit.hpp"

namespace tailrace {

/// What a pipeline waits for. docs/doctor.md says how each is told from the others.
enum class Bottleneck {
  kNothing,    // the device works all the time
  kInput,      // reading and decoding
  kH2d,        // copies to the device
  kCompute,    // the model does not keep the device busy
  kLink,       // copies out of the device
  kRing,       // too few slots for the bursts that come
  kConsumers,  // too few processes of a group
  kDisk,       // storage, where a group writes
  kCount
};

inline constexpr std::array<std::string_view, static_cast<std::size_t>(Bottleneck::kCount)> kBottleneckNames{
    "nothing", "input", "h2d", "compute", "link", "ring", "consumers", "disk"};

inline std::string_view name_of(Bottleneck bottleneck) noexcept {
  return kBottleneckNames[static_cast<std::size_t>(bottleneck)];
}

/// Shares are of the interval (of the consumers' time together), 0…1; times are those of one batch.
struct GroupFigures {
  std::string name;
  std::uint32_t consumers = 0;
  double busy = 0;     // at a batch
  double waiting = 0;  // for a batch
  double storage = 0;  // of the busy time: in writes, fsync, renames, the ledger
  double sink_s = 0;
};

/// What was measured of a pipeline during an interval.
struct PipelineFigures {
  double interval_s = 0;
  double batches_per_s = 0;
  // What the producer's main loop does; the rest of its time is its own work.
  double waits_input = 0;
  double waits_slot = 0;
  double waits_device = 0;
  // What the device and the link do.
  double device_busy = 0;
  double h2d_busy = 0;
  double copy_busy = 0;
  double h2d_s = 0;
  double compute_s = 0;
  double copy_s = 0;
  double bytes_per_batch = 0;   // out of the device
  double link_bytes_per_s = 0;  // as measured at the producer's start; 0 = unknown, or no GPU
  std::uint32_t slots = 0;
  std::optional<double> cpu_busy;  // share of all CPUs of the machine
  std::vector<GroupFigures> groups;

  [[nodiscard]] ProducerShares shares() const noexcept {
    return {waits_input, waits_slot, waits_device, device_busy};
  }
};

/// How many batches per second a stage could do if it never waited.
struct Capacity {
  Bottleneck stage = Bottleneck::kNothing;  // kNothing: the model on the device, kCompute: the main loop
  std::string group;                        // of kConsumers
  double batches_per_s = 0;
};

struct Verdict {
  Bottleneck bottleneck = Bottleneck::kNothing;
  std::string group;             // of kConsumers, kDisk
  bool overlaps = true;          // kLink: false = copies and model take turns
  std::optional<double> gain;    // at most so many times as fast once it is mended; empty: unknown
  std::optional<Capacity> then;  // what limits next
  std::uint32_t processes = 0;   // kConsumers: that are needed; kRing: slots
  std::vector<Capacity> capacities;
};

/// Names the one bottleneck. Pure; what cannot be judged (nothing published, processes missing) must not come
/// here: see why_not_judged().
Verdict find_bottleneck(const PipelineFigures& figures);

}  // namespace tailrace
