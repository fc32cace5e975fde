#include "ctl/doctor/figures.hpp"

#include <algorithm>
#include <fstream>

#include "ctl/ring_names.hpp"
#include "ctl/ring_troubles.hpp"

namespace tailrace {
namespace {

// The first batches load kernels and choose algorithms, as [profile] warmup_steps supposes.
constexpr std::uint64_t kWarmUpBatches = 10;

bool has_working_consumer(const RingReport& ring, const GroupReport& group) {
  return std::any_of(ring.consumers.begin(), ring.consumers.end(), [&](const ParticipantReport& consumer) {
    return consumer.alive && consumer.group == group.name && !stands_still(consumer);
  });
}

}  // namespace

std::optional<CpuTicks> read_cpu_ticks(const std::filesystem::path& proc) {
  std::ifstream stream(proc / "stat");
  std::string word;
  if (!(stream >> word) || word != "cpu") return std::nullopt;
  CpuTicks ticks;
  std::uint64_t value = 0;
  for (int field = 0; field < 8 && stream >> value; ++field) {  // guests are in user already
    ticks.all += value;
    if (field == 3 || field == 4) ticks.idle += value;  // idle, iowait
  }
  return ticks.all == 0 ? std::nullopt : std::optional(ticks);
}

std::optional<double> cpu_busy(const std::optional<CpuTicks>& earlier, const std::optional<CpuTicks>& later) {
  if (!earlier || !later || later->all <= earlier->all) return std::nullopt;
  const auto all = static_cast<double>(later->all - earlier->all);
  const auto idle = static_cast<double>(later->idle - std::min(earlier->idle, later->idle));
  return std::clamp(1 - idle / all, 0.0, 1.0);
}

PipelineFigures figures_of(const RingReport& ring, const RingRates& rates, std::optional<double> cpu_busy) {
  const ProducerRates& producer = rates.producer;
  PipelineFigures figures;
  figures.interval_s = rates.interval_s;
  figures.batches_per_s = producer.batches_per_s;
  figures.waits_input = producer.input_share;
  figures.waits_slot = producer.slot_share;
  figures.waits_device = producer.compute_share;
  figures.device_busy = producer.device_busy;
  figures.h2d_busy = producer.h2d_busy;
  figures.copy_busy = producer.copy_busy;
  figures.h2d_s = producer.h2d_s;
  figures.compute_s = producer.compute_s;
  figures.copy_s = producer.copy_s;
  figures.bytes_per_batch = producer.batches_per_s > 0 ? producer.bytes_per_s / producer.batches_per_s : 0;
  figures.link_bytes_per_s = static_cast<double>(ring.gauges.link_bytes_per_s);
  figures.slots = ring.slots;
  figures.cpu_busy = cpu_busy;
  for (const GroupRates& group : rates.groups)
    figures.groups.push_back(
        {group.name, group.consumers, group.busy, group.consumer_share, group.disk_share, group.sink_s});
  return figures;
}

std::optional<std::string> why_not_judged(const RingReport& ring, const std::optional<RingRates>& rates) {
  if (!ring.readable()) return ring.forbidden ? "the ring may not be read" : "the ring cannot be read";
  if (ring.damage) return "the ring is damaged";
  if (ring.state == RingState::kRetired) return "the ring is being replaced";
  if (ring.is_over()) return "everything is done";
  if (!ring.has_living_producer())
    return ring.role_held ? "a producer is starting" : "no producer is at work";
  if (stands_still(*ring.producer)) return "no producer is at work";
  for (const GroupReport& group : ring.groups)
    if (!has_working_consumer(ring, group)) return "group " + group.name + " has no consumer at work";
  if (ring.state == RingState::kFinished) return "everything is published; the consumers do what is left";
  if (ring.drain_requested) return "it is drained";
  for (const ParticipantReport& consumer : ring.consumers)
    if (consumer.alive && consumer.activity == name_of(Activity::kRetrying))
      return "the storage refuses the batches of group " + consumer.group;
  if (get(ring.counters, Counter::kBatches) == 0)
    return "it has published nothing yet: the producer has been at '" + std::string(ring.producer->activity) +
           "'";
  if (ring.producer->batches < kWarmUpBatches)
    return "it has just begun, and the first batches say nothing of the later ones; ask again";
  if (!rates) return "the ring was replaced during the interval; ask again";
  return std::nullopt;
}

}  // namespace tailrace
