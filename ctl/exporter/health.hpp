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

/// Judges by one look at the ring: by its troubles_of(), and for readiness also by what passes without being
/// wrong. docs/metrics.md has the rules. What is not live is not ready either.
Health judge(const RingReport& ring);

}  // namespace tailrace
