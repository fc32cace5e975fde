#pragma once

#include <string>
#include <vector>

#include "ctl/ring_report.hpp"

namespace tailrace {

/// What is wrong with a pipeline; no reasons: nothing.
struct Health {
  std::vector<std::string> not_live;   // it does not get on by itself: somebody has to look
  std::vector<std::string> not_ready;  // it does not take a batch from the source to every group now

  [[nodiscard]] bool live() const noexcept { return not_live.empty(); }
  [[nodiscard]] bool ready() const noexcept { return not_ready.empty(); }
};

/// How long a dead producer may be without a successor.
inline constexpr double kReplacedWithinS = 30;
/// For how long a process that has not said may be at one unit of work.
inline constexpr double kDefaultProgressLimitS = 300;

/// Judges by one look at the ring; docs/metrics.md has the rules. What is not live is not ready either.
Health judge(const RingReport& ring);

}  // namespace tailrace
