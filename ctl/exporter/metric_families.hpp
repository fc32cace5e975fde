#pragma once

#include <prometheus/metric_family.h>

#include <string>
#include <vector>

#include "ctl/exporter/metric.hpp"
#include "ctl/ring_report.hpp"

namespace tailrace {

using Labels = std::vector<prometheus::ClientMetric::Label>;

/// The values of one scrape, gathered by metric. Made anew each time, so that what is gone is not told.
class MetricFamilies {
 public:
  MetricFamilies();

  void add(Metric metric, const Labels& labels, double value);
  void add(Metric metric, const Labels& labels, const StageTimes& values);

  /// Prometheus' text format, version 0.0.4.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<prometheus::MetricFamily> families_;  // in the order of Metric
};

}  // namespace tailrace
