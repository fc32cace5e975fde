#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace tailrace {

/// Everything that `tailrace exporter` tells; docs/metrics.md says the same for people. Names: kMetrics.
enum class Metric : std::size_t {
  kBuildInfo,
  kUp,
  kRingState,
  kDraining,
  kProducerUp,
  kProducerFailed,
  kConsumers,
  kLive,
  kReady,
  kJobItems,
  kJobBatches,
  kJobFinishedItems,
  kJobPublished,
  kBatches,
  kItems,
  kBytes,
  kSkipped,
  kQuarantined,
  kRedeliveries,
  kGivenBack,
  kRefusedReturns,
  kDeaths,
  kStallSeconds,
  kStageSeconds,
  kBusyRatio,
  kRingSlots,
  kSlotBytes,
  kSlots,
  kHeldUp,
  kOldestLease,
  kActivityAge,
  kPinned,
  kPageBytes,
  kLink,
  kCount
};

enum class MetricKind { kCounter, kGauge, kHistogram };

struct MetricInfo {
  std::string_view name;
  MetricKind kind;
  std::string_view help;
};

inline constexpr std::size_t kMetricCount = static_cast<std::size_t>(Metric::kCount);

inline constexpr std::array<MetricInfo, kMetricCount> kMetrics{{
    {"tailrace_build_info", MetricKind::kGauge, "1; version and ring layout of the exporter"},
    {"tailrace_up", MetricKind::kGauge, "1: the ring can be read; 0: it cannot, see reason"},
    {"tailrace_ring_state", MetricKind::kGauge, "1 for the state that the ring is in"},
    {"tailrace_draining", MetricKind::kGauge, "1: somebody asked the producer to take no more input"},
    {"tailrace_producer_up", MetricKind::kGauge, "1: a living process is the ring's producer"},
    {"tailrace_producer_failed", MetricKind::kGauge,
     "Exit code of the last producer, while no successor has published; else 0"},
    {"tailrace_consumers", MetricKind::kGauge, "Living consumers"},
    {"tailrace_live", MetricKind::kGauge, "1: /livez is green"},
    {"tailrace_ready", MetricKind::kGauge, "1: /readyz is green"},
    {"tailrace_job_items", MetricKind::kGauge, "Items of the whole job"},
    {"tailrace_job_batches", MetricKind::kGauge, "Batches of the whole job"},
    {"tailrace_job_finished_items", MetricKind::kGauge,
     "Items that were finished when the ring was made, and do not come into it"},
    {"tailrace_job_published_batches", MetricKind::kGauge,
     "Batches of the job below this number are published, or were finished before"},
    {"tailrace_batches_total", MetricKind::kCounter, "Batches published (producer), committed (consumer)"},
    {"tailrace_items_total", MetricKind::kCounter,
     "Valid items in the batches published (producer), committed (consumer)"},
    {"tailrace_bytes_total", MetricKind::kCounter,
     "Bytes copied into slots (producer), read by the sink (consumer)"},
    {"tailrace_skipped_total", MetricKind::kCounter, "Items that could not be read"},
    {"tailrace_quarantined_total", MetricKind::kCounter, "Batches set aside"},
    {"tailrace_redeliveries_total", MetricKind::kCounter, "Leases taken from dead consumers"},
    {"tailrace_given_back_total", MetricKind::kCounter, "Leases handed back unfinished"},
    {"tailrace_refused_returns_total", MetricKind::kCounter, "Commits and give-backs by former owners"},
    {"tailrace_deaths_total", MetricKind::kCounter, "Processes that left the ring without saying so"},
    {"tailrace_stall_seconds_total", MetricKind::kCounter, "Time spent waiting, by what was waited for"},
    {"tailrace_stage_seconds", MetricKind::kHistogram, "How long a batch takes in each stage"},
    {"tailrace_gpu_busy_ratio", MetricKind::kGauge,
     "Share of the last 15 s that the device spent in the model"},
    {"tailrace_ring_slots", MetricKind::kGauge, "Slots of the ring"},
    {"tailrace_slot_bytes", MetricKind::kGauge, "Usable size of a slot"},
    {"tailrace_slots", MetricKind::kGauge, "Slots by state, as the group sees them"},
    {"tailrace_slots_held_up", MetricKind::kGauge, "Slots that wait for this group alone"},
    {"tailrace_oldest_lease_age_seconds", MetricKind::kGauge,
     "Age of the lease that has lasted longest; 0: there is none"},
    {"tailrace_activity_age_seconds", MetricKind::kGauge,
     "For how long a living process has been at what it is at"},
    {"tailrace_ring_pinned", MetricKind::kGauge, "1: the ring's memory is pinned for the GPU"},
    {"tailrace_page_bytes", MetricKind::kGauge, "Size of most pages of the ring's memory"},
    {"tailrace_link_bytes_per_second", MetricKind::kGauge,
     "From the GPU into pinned memory at its best, as the producer measured it"},
}};

constexpr const MetricInfo& info_of(Metric metric) { return kMetrics[static_cast<std::size_t>(metric)]; }

static_assert(!kMetrics.back().name.empty(), "every enumerator has a name");

}  // namespace tailrace
