#pragma once

#include <optional>

#include "ctl/exporter/health.hpp"
#include "ctl/exporter/metric_families.hpp"
#include "ctl/ring_report.hpp"

namespace tailrace {

/// What one ring's report comes to in metrics. `busy`: share of the time that the device spent in the model;
/// empty: not known yet.
void add_ring(const RingReport& ring, const Health& health, std::optional<double> busy,
              MetricFamilies& families);

}  // namespace tailrace
