#include "ctl/status_text.hpp"

#include <algorithm>

#include "config/quantities.hpp"
#include "ctl/figures_text.hpp"
#include "ctl/progress.hpp"
#include "ctl/ring_names.hpp"
#include "ctl/ring_troubles.hpp"

namespace tailrace {
namespace {

std::string number(std::uint64_t value) { return std::to_string(value); }

// "12.0 s"
std::string seconds(double value) { return value <= 0 ? "0 s" : span_text(value); }

std::string describe(const ParticipantReport& process) {
  return "pid " + std::to_string(process.pid) +
         (process.alive ? ", " + std::string(process.activity) + " for " + seconds(process.activity_age_s)
                        : ", gone for " + seconds(process.heartbeat_age_s));
}

std::string headline(const RingReport& ring) {
  return ring.name + ": " + std::string(name_of(ring.state)) + (ring.drain_requested ? ", draining" : "") +
         ", " + (ring.published ? number(*ring.published) : "?") + " of " + number(ring.batches) +
         " batches published, " + number(ring.slots) + " slots of " + rounded_size_text(ring.slot_bytes) +
         ", epoch " + epoch_text(ring.epoch) + "\n";
}

std::string rates_line(const RingReport& ring, const RingRates& rates) {
  const ProducerRates& producer = rates.producer;
  std::string text = "  now: " + rate_text(producer.batches_per_s) + " batches/s, " +
                     rate_text(producer.items_per_s) + " items/s, " + byte_rate_text(producer.bytes_per_s) +
                     ", device busy " + percent_text(producer.device_busy) + "; waits for input " +
                     percent_text(producer.input_share) + ", slots " + percent_text(producer.slot_share) +
                     ", device " + percent_text(producer.compute_share);
  if (const auto left = remaining_s(ring, rates)) text += "; " + clock_text(*left) + " left";
  return text + "\n";
}

// "h2d 1.2/3.4 ms, …": median and 99th percentile of what was recorded.
std::string stages_line(const StageTable& stages, const char* indent) {
  std::string text;
  for (std::size_t i = 0; i < kStageCount; ++i) {
    if (stages[i].count() == 0) continue;
    text += (text.empty() ? "" : ", ") + std::string(kStageNames[i]) + " " +
            span_text(stages[i].quantile_s(0.5)) + " / " + span_text(stages[i].quantile_s(0.99));
  }
  return text.empty() ? "" : indent + ("p50 / p99: " + text) + "\n";
}

std::string producer_lines(const RingReport& ring) {
  const auto waited = [&](Counter counter) {
    return seconds(static_cast<double>(get(ring.counters, counter)) / 1e9);
  };
  return "  producer: " + (ring.producer ? describe(*ring.producer) : "none") + ", " +
         number(get(ring.counters, Counter::kItems)) + " items, " +
         number(get(ring.counters, Counter::kSkippedItems)) + " skipped, waited " +
         waited(Counter::kStallInputNs) + " for input, " + waited(Counter::kStallSlotNs) + " for slots, " +
         waited(Counter::kStallComputeNs) + " for the device\n" + stages_line(ring.stages, "    ");
}

std::string slots_line(const GroupReport& group, bool is_alone) {
  const SlotCounts& slots = group.slots;
  std::string text = "    slots: " + number(slots.free) + " free, " + number(slots.filling) + " filling, " +
                     number(slots.ready) + " ready, " + number(slots.leased) + " leased, " +
                     number(slots.done) + " done";
  if (group.oldest_ready_age_s) text += "; oldest ready for " + seconds(*group.oldest_ready_age_s);
  if (!is_alone && group.held_up != 0) text += "; " + number(group.held_up) + " wait for this group alone";
  return text + "\n";
}

std::string lease_line(const LeaseReport& lease) {
  return "    oldest lease: slot " + number(lease.slot) + " for " + seconds(lease.age_s) + " by pid " +
         std::to_string(lease.pid) + ", attempt " + number(lease.attempt) + "\n";
}

std::string consumer_line(const ParticipantReport& consumer, const std::optional<RingRates>& rates) {
  std::string text = "    consumer " + number(consumer.id) + ", " + describe(consumer) + ": " +
                     number(consumer.batches) + " batches, " + number(consumer.items) + " items";
  if (rates)
    for (const ConsumerRates& now : rates->consumers)
      if (now.id == consumer.id) text += ", " + rate_text(now.batches_per_s) + " batches/s";
  return text + "\n";
}

std::string group_lines(const RingReport& ring, std::size_t index, const std::optional<RingRates>& rates) {
  const GroupReport& group = ring.groups[index];
  std::string text = "  group " + group.name + ": " + number(get(group.counters, Counter::kBatches)) +
                     " batches, " + number(get(group.counters, Counter::kItems)) + " items done, " +
                     number(get(group.counters, Counter::kRedeliveries)) + " redelivered, " +
                     number(get(group.counters, Counter::kQuarantined)) + " set aside";
  if (rates)
    text += "; busy " + percent_text(rates->groups[index].busy) + ", storage " +
            percent_text(rates->groups[index].disk_share);
  text += "\n" + slots_line(group, ring.groups.size() < 2) + stages_line(group.stages, "    ");
  if (group.oldest_lease) text += lease_line(*group.oldest_lease);
  for (const ParticipantReport& consumer : ring.consumers)
    if (consumer.group == group.name) text += consumer_line(consumer, rates);
  return text;
}

}  // namespace

std::string status_text(const RingReport& ring, const std::optional<RingRates>& rates) {
  if (!ring.readable())
    return ring.name + ": " + std::string(ring.access()) + (ring.detail.empty() ? "" : ": " + ring.detail) +
           "\n";
  std::string text = headline(ring);
  for (const Trouble& trouble : troubles_of(ring)) text += "  ! " + trouble.text + "\n";
  if (rates) text += rates_line(ring, *rates);
  text += producer_lines(ring);
  for (std::size_t i = 0; i < ring.groups.size(); ++i) text += group_lines(ring, i, rates);
  return text;
}

}  // namespace tailrace
