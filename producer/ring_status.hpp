#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "shm/ring.hpp"

namespace tailrace {

/// One line for people on how a producer gets on with its ring: "batch 1200 of 8000, 6.9 steps/s, limited by
/// the consumers". Asked by one thread, about once a second; the ring outlives it.
class RingStatus {
 public:
  explicit RingStatus(const Ring& ring) : ring_(&ring) {}

  std::string text();

 private:
  /// The producer's counters at one moment.
  struct Sample {
    std::uint64_t time_ns = 0;
    std::uint64_t batches = 0;
    std::uint64_t stall_input_ns = 0;
    std::uint64_t stall_slot_ns = 0;
    std::uint64_t stall_device_ns = 0;
    std::uint64_t compute_ns = 0;
  };

  [[nodiscard]] Sample take_sample() const;
  /// ", 6.9 steps/s, limited by the model" over the last seconds; empty: nothing can be said yet.
  std::string pace();
  /// ", waiting for consumers: group masks has none"; empty: it does not wait, or they are there.
  [[nodiscard]] std::string missing_consumers() const;
  [[nodiscard]] bool has_consumers(GroupId group) const;

  const Ring* ring_;
  std::deque<Sample> samples_;  // the oldest one first
};

}  // namespace tailrace
