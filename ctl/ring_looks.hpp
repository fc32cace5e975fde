#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "ctl/ring_rates.hpp"

namespace tailrace {

/// A ring, and how fast it goes where that is known.
struct RingLook {
  RingReport report;
  std::optional<RingRates> rates;
};

/// The rings of these names that are there. `names`: empty = every ring of this machine.
std::vector<RingReport> look_at_rings(const std::vector<std::string>& names);

/// Two looks, `interval` apart; 0: one look, without rates. The later one counts.
std::vector<RingLook> watch_rings(const std::vector<std::string>& names, std::chrono::nanoseconds interval);

/// `now` with the rates since `before`, ring by ring.
std::vector<RingLook> compare(const std::vector<RingReport>& before, std::vector<RingReport> now);

}  // namespace tailrace
