#include "ctl/status_json.hpp"

#include <string>

#include "ctl/json_text.hpp"
#include "ctl/ring_names.hpp"
#include "ctl/ring_troubles.hpp"

namespace tailrace {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const CounterValues& counters) {
  Json json = Json::object();
  for (std::size_t i = 0; i < kCounterCount; ++i) json[std::string(kCounterNames[i])] = counters[i];
  return json;
}

Json to_json(const StageTable& stages) {
  Json json = Json::object();
  for (std::size_t i = 0; i < kStageCount; ++i)
    json[std::string(kStageNames[i])] = {{"count", stages[i].count()},
                                         {"mean_s", stages[i].mean_s()},
                                         {"p50_s", stages[i].quantile_s(0.5)},
                                         {"p99_s", stages[i].quantile_s(0.99)}};
  return json;
}

Json to_json(const GaugeValues& gauges) {
  return {{"link_bytes_per_s", gauges.link_bytes_per_s},
          {"slots_pinned", gauges.slots_pinned},
          {"page_bytes", gauges.page_bytes},
          {"numa_node", gauges.numa_node}};
}

Json to_json(const ConsumerRates& rates) {
  return {{"batches_per_s", rates.batches_per_s}, {"items_per_s", rates.items_per_s}};
}

Json to_json(const GroupRates& rates) {
  return {{"batches_per_s", rates.batches_per_s},
          {"items_per_s", rates.items_per_s},
          {"bytes_per_s", rates.bytes_per_s},
          {"consumers", rates.consumers},
          {"busy", rates.busy},
          {"stalls", {{"consumer", rates.consumer_share}, {"disk", rates.disk_share}}}};
}

Json to_json(const RingReport& ring, const RingRates& rates) {
  const ProducerRates& producer = rates.producer;
  return {
      {"interval_s", rates.interval_s},
      {"batches_per_s", producer.batches_per_s},
      {"items_per_s", producer.items_per_s},
      {"bytes_per_s", producer.bytes_per_s},
      {"device_busy", producer.device_busy},
      {"stalls",
       {{"input", producer.input_share}, {"slot", producer.slot_share}, {"compute", producer.compute_share}}},
      {"remaining_s", or_null(remaining_s(ring, rates))}};
}

Json to_json(const ParticipantReport& process) {
  return {{"id", process.id},
          {"pid", process.pid},
          {"alive", process.alive},
          {"stands_still", stands_still(process)},
          {"progress", process.progress},
          {"heartbeat_age_s", process.heartbeat_age_s},
          {"activity", process.activity},
          {"activity_age_s", process.activity_age_s}};
}

Json consumer_json(const ParticipantReport& process, const std::optional<RingRates>& rates) {
  Json json = to_json(process);
  json.update({{"group", process.group}, {"batches", process.batches}, {"items", process.items}});
  json["rates"] = nullptr;
  if (!rates) return json;
  for (const ConsumerRates& consumer : rates->consumers)
    if (consumer.id == process.id) json["rates"] = to_json(consumer);
  return json;
}

Json to_json(const LeaseReport& lease) {
  return {{"slot", lease.slot},         {"seq", lease.seq}, {"attempt", lease.attempt},
          {"consumer", lease.consumer}, {"pid", lease.pid}, {"age_s", lease.age_s}};
}

Json to_json(const GroupReport& group) {
  const SlotCounts& slots = group.slots;
  return {{"name", group.name},
          {"max_attempts", group.max_attempts},
          {"slots",
           {{"free", slots.free},
            {"filling", slots.filling},
            {"ready", slots.ready},
            {"leased", slots.leased},
            {"done", slots.done},
            {"held_up", group.held_up}}},
          {"oldest_ready_age_s", or_null(group.oldest_ready_age_s)},
          {"oldest_lease", group.oldest_lease ? to_json(*group.oldest_lease) : Json(nullptr)},
          {"counters", to_json(group.counters)},
          {"stages", to_json(group.stages)}};
}

Json to_json(const GroupTotals& group) {
  return {{"name", group.group},
          {"done", group.done},
          {"skipped", group.skipped},
          {"set_aside", group.set_aside},
          {"missing", group.missing}};
}

}  // namespace

Json status_json(const JobReport& job) {
  Json json{{"pipeline", job.pipeline},
            {"file", job.file},
            {"state_folder", job.state},
            {"detail", job.detail},
            {"troubles", troubles_of(job)}};
  if (!job.detail.empty()) return json;
  json.update({{"complete", job.standing.complete}, {"items", job.standing.items}});
  json["groups"] = Json::array();
  for (const GroupTotals& group : job.standing.groups) json["groups"].push_back(to_json(group));
  return json;
}

Json status_json(const RingReport& ring, const std::optional<RingRates>& rates) {
  Json json{{"name", ring.name}, {"attach", ring.access()}, {"detail", ring.detail}};
  json["troubles"] = Json::array();
  for (const Trouble& trouble : troubles_of(ring)) json["troubles"].push_back(trouble.text);
  if (!ring.readable()) return json;
  json.update({{"state", name_of(ring.state)},
               {"epoch", epoch_text(ring.epoch)},
               {"slots", ring.slots},
               {"slot_bytes", ring.slot_bytes},
               {"items", ring.items},
               {"batches", ring.batches},
               {"finished_before", ring.finished_before},
               {"published", or_null(ring.published)},
               {"drain_requested", ring.drain_requested},
               {"damage", or_null(ring.damage)},
               {"producer", ring.producer ? to_json(*ring.producer) : Json(nullptr)},
               {"counters", to_json(ring.counters)},
               {"stages", to_json(ring.stages)},
               {"gauges", to_json(ring.gauges)},
               {"rates", rates ? to_json(ring, *rates) : Json(nullptr)}});
  json["consumers"] = Json::array();
  for (const ParticipantReport& consumer : ring.consumers)
    json["consumers"].push_back(consumer_json(consumer, rates));
  json["groups"] = Json::array();
  for (std::size_t i = 0; i < ring.groups.size(); ++i) {
    json["groups"].push_back(to_json(ring.groups[i]));
    json["groups"].back()["rates"] = rates ? to_json(rates->groups[i]) : Json(nullptr);
  }
  return json;
}

}  // namespace tailrace
