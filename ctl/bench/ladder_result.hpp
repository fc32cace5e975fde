#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ctl/bench/bar_chart.hpp"
#include "ctl/bench/run_report.hpp"

namespace tailrace {

/// One strategy and its runs, at least one.
struct LadderRung {
  std::string strategy;
  std::vector<RunReport> runs;

  [[nodiscard]] const RunReport& median() const { return median_run(runs); }
};

// Precondition of all three: there is a rung. Speed-ups count from the first one.

/// A line on what was measured, and a table.
std::string ladder_text(const std::vector<LadderRung>& rungs);

/// Keys: bench/README.md.
nlohmann::ordered_json ladder_json(const std::vector<LadderRung>& rungs);

BarChart ladder_chart(const std::vector<LadderRung>& rungs);

}  // namespace tailrace
