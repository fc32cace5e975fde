#include "ctl/ring_rates.hpp"

#include <algorithm>

namespace tailrace {
namespace {

/// Differences of two looks at one ring.
class Between {
 public:
  Between(const RingReport& earlier, const RingReport& later)
      : seconds_(static_cast<double>(later.time_ns - earlier.time_ns) / 1e9) {}

  [[nodiscard]] double seconds() const { return seconds_; }
  [[nodiscard]] double rate(std::uint64_t from, std::uint64_t to) const {
    return to <= from ? 0 : static_cast<double>(to - from) / seconds_;
  }
  /// Of nanoseconds, with what lasts at each look (seconds).
  [[nodiscard]] double share(std::uint64_t from, double lasting_from, std::uint64_t to, double lasting_to,
                             std::uint32_t processes = 1) const {
    const double spent =
        static_cast<double>(to) / 1e9 + lasting_to - static_cast<double>(from) / 1e9 - lasting_from;
    return std::clamp(spent / (seconds_ * std::max(processes, 1U)), 0.0, 1.0);
  }

 private:
  double seconds_;
};

const StageTimes& stage(const RingReport& ring, Stage which) { return get(ring.stages, which); }

double lasting(const RingReport& ring, Activity activity) {
  return ring.has_living_producer() && ring.producer->activity == name_of(activity)
             ? ring.producer->activity_age_s
             : 0;
}

/// How long the living consumers of the group have been at their present batches, together.
double lasting(const RingReport& ring, const std::string& group) {
  double seconds = 0;
  for (const ParticipantReport& consumer : ring.consumers)
    if (consumer.alive && consumer.group == group && consumer.activity != name_of(Activity::kWaiting))
      seconds += consumer.activity_age_s;
  return seconds;
}

double mean_s(const StageTimes& earlier, const StageTimes& later) {
  const StageTimes recent = times_between(earlier, later);
  return recent.count() != 0 ? recent.mean_s() : later.mean_s();
}

ProducerRates producer_rates(const RingReport& earlier, const RingReport& later, const Between& between) {
  const auto rate = [&](Counter c) { return between.rate(get(earlier.counters, c), get(later.counters, c)); };
  const auto share = [&](Counter c, Activity activity) {
    return between.share(get(earlier.counters, c), lasting(earlier, activity), get(later.counters, c),
                         lasting(later, activity));
  };
  const auto busy = [&](Stage s) {
    return between.share(stage(earlier, s).sum_ns, 0, stage(later, s).sum_ns, 0);
  };
  const auto mean = [&](Stage s) { return mean_s(stage(earlier, s), stage(later, s)); };
  ProducerRates rates;
  rates.batches_per_s = rate(Counter::kBatches);
  rates.items_per_s = rate(Counter::kItems);
  rates.bytes_per_s = rate(Counter::kBytes);
  rates.device_busy = share(Counter::kComputeNs, Activity::kCompute);
  rates.h2d_busy = busy(Stage::kUpload);
  rates.copy_busy = busy(Stage::kEgressCopy);
  rates.input_share = share(Counter::kStallInputNs, Activity::kInput);
  // Waits for slots are counted each 100 ms; those for the device at their end, which comes soon.
  rates.slot_share = between.share(get(earlier.counters, Counter::kStallSlotNs), 0,
                                   get(later.counters, Counter::kStallSlotNs), 0);
  rates.compute_share = share(Counter::kStallComputeNs, Activity::kCompute);
  rates.h2d_s = mean(Stage::kUpload);
  rates.compute_s = mean(Stage::kCompute);
  rates.copy_s = mean(Stage::kEgressCopy);
  return rates;
}

GroupRates group_rates(const RingReport& earlier, const RingReport& later, std::size_t index,
                       const Between& between) {
  const GroupReport& from = earlier.groups[index];
  const GroupReport& to = later.groups[index];
  const auto rate = [&](Counter c) { return between.rate(get(from.counters, c), get(to.counters, c)); };
  GroupRates rates;
  rates.name = to.name;
  rates.consumers = later.count_living(to.name);
  rates.batches_per_s = rate(Counter::kBatches);
  rates.items_per_s = rate(Counter::kItems);
  rates.bytes_per_s = rate(Counter::kBytes);
  rates.busy = between.share(get(from.stages, Stage::kSink).sum_ns, lasting(earlier, to.name),
                             get(to.stages, Stage::kSink).sum_ns, lasting(later, to.name), rates.consumers);
  const auto share = [&](Counter c) {
    return between.share(get(from.counters, c), 0, get(to.counters, c), 0, rates.consumers);
  };
  rates.consumer_share = share(Counter::kStallConsumerNs);
  rates.disk_share = share(Counter::kStallDiskNs);
  rates.sink_s = mean_s(get(from.stages, Stage::kSink), get(to.stages, Stage::kSink));
  return rates;
}

std::vector<ConsumerRates> consumer_rates(const RingReport& earlier, const RingReport& later,
                                          const Between& between) {
  std::vector<ConsumerRates> rates;
  for (const ParticipantReport& to : later.consumers)
    for (const ParticipantReport& from : earlier.consumers)
      if (from.id == to.id && from.pid == to.pid)
        rates.push_back({to.id, between.rate(from.batches, to.batches), between.rate(from.items, to.items)});
  return rates;
}

}  // namespace

std::optional<RingRates> rates_between(const RingReport& earlier, const RingReport& later) {
  if (!earlier.readable() || earlier.epoch != later.epoch || later.time_ns <= earlier.time_ns)
    return std::nullopt;
  const Between between(earlier, later);
  RingRates rates;
  rates.interval_s = between.seconds();
  rates.producer = producer_rates(earlier, later, between);
  for (std::size_t i = 0; i < later.groups.size(); ++i)
    rates.groups.push_back(group_rates(earlier, later, i, between));
  rates.consumers = consumer_rates(earlier, later, between);
  return rates;
}

std::optional<double> remaining_s(const RingReport& ring, const RingRates& rates) {
  std::optional<double> longest;
  for (std::size_t i = 0; i < ring.groups.size(); ++i) {
    const std::uint64_t behind = ring.finished_before + get(ring.groups[i].counters, Counter::kItems) +
                                 get(ring.counters, Counter::kSkippedItems);
    if (behind >= ring.items) continue;
    if (rates.groups[i].items_per_s <= 0) return std::nullopt;
    longest =
        std::max(longest.value_or(0), static_cast<double>(ring.items - behind) / rates.groups[i].items_per_s);
  }
  return longest;
}

}  // namespace tailrace
