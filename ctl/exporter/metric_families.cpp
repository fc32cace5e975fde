#include "ctl/exporter/metric_families.hpp"

#include <prometheus/text_serializer.h>

#include <algorithm>
#include <iterator>
#include <sstream>

namespace tailrace {
namespace {

prometheus::MetricType type_of(MetricKind kind) {
  switch (kind) {
    case MetricKind::kCounter:
      return prometheus::MetricType::Counter;
    case MetricKind::kGauge:
      return prometheus::MetricType::Gauge;
    case MetricKind::kHistogram:
      break;
  }
  return prometheus::MetricType::Histogram;
}

double upper_bound_s(std::size_t bucket) {
  return static_cast<double>(std::uint64_t{1} << (bucket + HistogramRecord::kFirstBits)) / 1e9;
}

}  // namespace

MetricFamilies::MetricFamilies() : families_(kMetricCount) {
  for (std::size_t i = 0; i < kMetricCount; ++i) {
    families_[i].name = kMetrics[i].name;
    families_[i].help = kMetrics[i].help;
    families_[i].type = type_of(kMetrics[i].kind);
  }
}

void MetricFamilies::add(Metric metric, const Labels& labels, double value) {
  prometheus::ClientMetric sample;
  sample.label = labels;
  if (info_of(metric).kind == MetricKind::kCounter)
    sample.counter.value = value;
  else
    sample.gauge.value = value;
  families_[static_cast<std::size_t>(metric)].metric.push_back(std::move(sample));
}

void MetricFamilies::add(Metric metric, const Labels& labels, const StageTimes& values) {
  prometheus::ClientMetric sample;
  sample.label = labels;
  std::uint64_t count = 0;
  for (std::size_t bucket = 0; bucket < HistogramRecord::kBuckets; ++bucket) {
    count += values.buckets[bucket];
    const bool is_last = bucket + 1 == HistogramRecord::kBuckets;  // has no bound: the serializer's +Inf
    if (!is_last) sample.histogram.bucket.push_back({count, upper_bound_s(bucket)});
  }
  sample.histogram.sample_count = count;
  sample.histogram.sample_sum = static_cast<double>(values.sum_ns) / 1e9;
  families_[static_cast<std::size_t>(metric)].metric.push_back(std::move(sample));
}

std::string MetricFamilies::text() const {
  std::vector<prometheus::MetricFamily> told;
  std::copy_if(families_.begin(), families_.end(), std::back_inserter(told),
               [](const prometheus::MetricFamily& family) { return !family.metric.empty(); });
  return prometheus::TextSerializer().Serialize(told);
}

}  // namespace tailrace
