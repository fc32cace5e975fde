#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "ctl/job_report.hpp"
#include "ctl/ring_rates.hpp"

namespace tailrace {

/// A ring as `tailrace status --json` tells of it; docs/status.md has the keys. `rates`: empty = null.
nlohmann::ordered_json status_json(const RingReport& ring, const std::optional<RingRates>& rates);
/// The same for a job.
nlohmann::ordered_json status_json(const JobReport& job);

}  // namespace tailrace
