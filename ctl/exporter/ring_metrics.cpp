#include "ctl/exporter/ring_metrics.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "ctl/ring_names.hpp"

namespace tailrace {
namespace {

constexpr std::array kProducerStages{Stage::kInputWait, Stage::kUpload, Stage::kCompute, Stage::kEgressCopy,
                                     Stage::kPublish};
constexpr std::array kConsumerStages{Stage::kLeaseWait, Stage::kSink, Stage::kRoundTrip};

// Counters whose name has the value of a label in it: stall_input_ns, skipped_too_large.
constexpr std::string_view kStallPrefix = "stall_";
constexpr std::string_view kStallSuffix = "_ns";
constexpr std::string_view kSkippedPrefix = "skipped_";
constexpr std::array<std::string_view, 2> kConsumerStalls{"consumer", "disk"};

constexpr std::array kCounters{
    std::pair{Counter::kBatches, Metric::kBatches},
    std::pair{Counter::kItems, Metric::kItems},
    std::pair{Counter::kBytes, Metric::kBytes},
    std::pair{Counter::kDeaths, Metric::kDeaths},
};
constexpr std::array kConsumerCounters{
    std::pair{Counter::kQuarantined, Metric::kQuarantined},
    std::pair{Counter::kRedeliveries, Metric::kRedeliveries},
    std::pair{Counter::kGivenBack, Metric::kGivenBack},
    std::pair{Counter::kRefusedReturns, Metric::kRefusedReturns},
};

constexpr std::string_view kProducer = "producer";
constexpr std::string_view kConsumer = "consumer";

double number(std::uint64_t value) { return static_cast<double>(value); }
double number(bool value) { return value ? 1 : 0; }

Labels with(Labels labels, std::string_view name, std::string_view value) {
  labels.push_back({std::string(name), std::string(value)});
  return labels;
}

// Why the ring counts as not readable; empty: it does not.
std::string_view reason_of(const RingReport& ring) {
  if (ring.damage) return "damaged";
  return ring.readable() ? "" : ring.access();
}

template <std::size_t kCount>
void add_counters(const CounterValues& counters, const std::array<std::pair<Counter, Metric>, kCount>& which,
                  const Labels& labels, MetricFamilies& families) {
  for (const auto& [counter, metric] : which) families.add(metric, labels, number(get(counters, counter)));
}

template <std::size_t kCount>
void add_stages(const StageTable& stages, const std::array<Stage, kCount>& which, const Labels& labels,
                MetricFamilies& families) {
  for (const Stage stage : which) {
    const auto index = static_cast<std::size_t>(stage);
    families.add(Metric::kStageSeconds, with(labels, "stage", kStageNames[index]), stages[index]);
  }
}

void add_stalls(const CounterValues& counters, bool of_consumers, const Labels& labels,
                MetricFamilies& families) {
  for (std::size_t i = 0; i < kCounterCount; ++i) {
    std::string_view reason = kCounterNames[i];
    if (!reason.starts_with(kStallPrefix)) continue;
    reason = reason.substr(kStallPrefix.size());
    reason.remove_suffix(kStallSuffix.size());
    const bool is_consumers =
        std::find(kConsumerStalls.begin(), kConsumerStalls.end(), reason) != kConsumerStalls.end();
    if (is_consumers != of_consumers) continue;
    families.add(Metric::kStallSeconds, with(labels, "reason", reason), number(counters[i]) / 1e9);
  }
}

void add_skipped(const CounterValues& counters, const Labels& labels, MetricFamilies& families) {
  for (std::size_t i = 0; i < kCounterCount; ++i)
    if (kCounterNames[i].starts_with(kSkippedPrefix) && i != static_cast<std::size_t>(Counter::kSkippedItems))
      families.add(Metric::kSkipped, with(labels, "reason", kCounterNames[i].substr(kSkippedPrefix.size())),
                   number(counters[i]));
}

void add_process(const ParticipantReport& process, const Labels& labels, MetricFamilies& families) {
  if (!process.alive) return;
  families.add(Metric::kActivityAge,
               with(with(labels, "id", std::to_string(process.id)), "activity", process.activity),
               process.activity_age_s);
}

void add_ring_state(const RingReport& ring, const Labels& labels, MetricFamilies& families) {
  for (const RingState state : {RingState::kOpen, RingState::kFinished, RingState::kRetired})
    families.add(Metric::kRingState, with(labels, "state", name_of(state)), number(ring.state == state));
  families.add(Metric::kDraining, labels, number(ring.drain_requested));
}

void add_job(const RingReport& ring, const Labels& labels, MetricFamilies& families) {
  families.add(Metric::kJobItems, labels, number(ring.items));
  families.add(Metric::kJobBatches, labels, number(ring.batches));
  families.add(Metric::kJobFinishedItems, labels, number(ring.finished_before));
  if (ring.published) families.add(Metric::kJobPublished, labels, number(*ring.published));
}

void add_memory(const RingReport& ring, const Labels& labels, MetricFamilies& families) {
  families.add(Metric::kRingSlots, labels, number(std::uint64_t{ring.slots}));
  families.add(Metric::kSlotBytes, labels, number(ring.slot_bytes));
  families.add(Metric::kPinned, labels, number(ring.gauges.slots_pinned != 0));
  if (ring.gauges.page_bytes != 0) families.add(Metric::kPageBytes, labels, number(ring.gauges.page_bytes));
  if (ring.gauges.link_bytes_per_s != 0)
    families.add(Metric::kLink, labels, number(ring.gauges.link_bytes_per_s));
}

void add_producer(const RingReport& ring, std::optional<double> busy, const Labels& labels,
                  MetricFamilies& families) {
  families.add(Metric::kProducerUp, labels, number(ring.has_living_producer()));
  families.add(Metric::kProducerFailed, labels,
               ring.failed_producer ? number(std::uint64_t{ring.failed_producer->exit_code}) : 0);
  if (busy) families.add(Metric::kBusyRatio, labels, *busy);
  const Labels as_producer = with(labels, "role", kProducer);
  add_counters(ring.counters, kCounters, as_producer, families);
  add_stalls(ring.counters, false, as_producer, families);
  add_skipped(ring.counters, as_producer, families);
  add_stages(ring.stages, kProducerStages, as_producer, families);
  if (ring.producer) add_process(*ring.producer, as_producer, families);
}

void add_slots(const GroupReport& group, const Labels& labels, MetricFamilies& families) {
  const SlotCounts& slots = group.slots;
  const std::array counts{std::pair{"free", slots.free}, std::pair{"filling", slots.filling},
                          std::pair{"ready", slots.ready}, std::pair{"leased", slots.leased},
                          std::pair{"done", slots.done}};
  for (const auto& [state, count] : counts)
    families.add(Metric::kSlots, with(labels, "state", state), number(std::uint64_t{count}));
  families.add(Metric::kHeldUp, labels, number(std::uint64_t{group.held_up}));
  families.add(Metric::kOldestLease, labels, group.oldest_lease ? group.oldest_lease->age_s : 0);
}

void add_group(const GroupReport& group, const RingReport& ring, const Labels& labels,
               MetricFamilies& families) {
  const Labels of_group = with(labels, "group", group.name);
  const Labels as_consumer = with(of_group, "role", kConsumer);
  for (const ParticipantReport& consumer : ring.consumers)
    if (consumer.group == group.name) add_process(consumer, as_consumer, families);
  families.add(Metric::kConsumers, of_group, number(std::uint64_t{ring.count_living(group.name)}));
  add_slots(group, of_group, families);
  add_counters(group.counters, kCounters, as_consumer, families);
  add_counters(group.counters, kConsumerCounters, as_consumer, families);
  add_stalls(group.counters, true, as_consumer, families);
  add_stages(group.stages, kConsumerStages, as_consumer, families);
}

}  // namespace

void add_ring(const RingReport& ring, const Health& health, std::optional<double> busy,
              MetricFamilies& families) {
  const Labels labels{{"pipeline", ring.name}};
  const std::string_view reason = reason_of(ring);
  families.add(Metric::kUp, reason.empty() ? labels : with(labels, "reason", reason), number(reason.empty()));
  families.add(Metric::kLive, labels, number(health.live()));
  families.add(Metric::kReady, labels, number(health.ready()));
  if (!ring.readable()) return;
  add_ring_state(ring, labels, families);
  add_job(ring, labels, families);
  add_memory(ring, labels, families);
  add_producer(ring, busy, labels, families);
  for (const GroupReport& group : ring.groups) add_group(group, ring, labels, families);
}

}  // namespace tailrace
