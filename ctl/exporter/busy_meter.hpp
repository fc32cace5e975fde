#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "ctl/ring_report.hpp"

namespace tailrace {

/// What share of the last kWindow each ring's device spent in the model. Any thread.
class BusyMeter {
 public:
  static constexpr std::chrono::seconds kWindow{15};

  /// Notes where the ring's counter is.
  void add(const RingReport& ring);
  /// Forgets rings of which nothing was noted in the window before `now_ns` (CLOCK_MONOTONIC).
  void forget_gone(std::uint64_t now_ns);
  /// Up to the report; 0 to 1. Empty: the ring has not been seen for a second yet.
  [[nodiscard]] std::optional<double> busy(const RingReport& ring) const;

 private:
  struct Sample {
    std::uint64_t at_ns = 0;
    std::uint64_t compute_ns = 0;
  };
  struct History {
    std::uint64_t epoch = 0;
    std::deque<Sample> samples;  // those of the window, and one before it
  };

  mutable std::mutex mutex_;
  std::map<std::string, History> histories_;
};

}  // namespace tailrace
