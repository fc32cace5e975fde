#include "ctl/status.hpp"

#include <array>
#include <cinttypes>
#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "config/exit_codes.hpp"
#include "config/quantities.hpp"
#include "ctl/ring_list.hpp"
#include "ctl/ring_name.hpp"
#include "ctl/ring_report.hpp"

namespace tailrace {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string name;
  bool json = false;
};

std::string name_of(AttachState state) {
  switch (state) {
    case AttachState::kReady:
      return "ready";
    case AttachState::kAbsent:
      return "absent";
    case AttachState::kInitialising:
      return "initialising";
    case AttachState::kRetired:
      return "retired";
    case AttachState::kIncompatible:
      return "incompatible";
    case AttachState::kTooSmall:
      return "too_small";
  }
  return {};
}

std::string name_of(RingState state) {
  switch (state) {
    case RingState::kOpen:
      return "open";
    case RingState::kFinished:
      return "finished";
    case RingState::kRetired:
      return "retired";
  }
  return "unknown";  // a damaged word
}

std::string hex(std::uint64_t value) {
  std::array<char, 20> text{};
  std::snprintf(text.data(), text.size(), "%016" PRIx64, value);
  return text.data();
}

std::string seconds(double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.1f s", value);
  return text.data();
}

std::uint64_t get(const CounterValues& counters, Counter counter) {
  return counters[static_cast<std::size_t>(counter)];
}

Json to_json(const CounterValues& counters) {
  Json json = Json::object();
  for (std::size_t i = 0; i < kCounterCount; ++i) json[std::string(kCounterNames[i])] = counters[i];
  return json;
}

Json to_json(const GaugeValues& gauges) {
  return {{"link_bytes_per_s", gauges.link_bytes_per_s},
          {"slots_pinned", gauges.slots_pinned},
          {"page_bytes", gauges.page_bytes},
          {"numa_node", gauges.numa_node}};
}

Json to_json(const ParticipantReport& process) {
  Json json{{"id", process.id}, {"pid", process.pid}, {"alive", process.alive}};
  if (!process.group.empty())
    json.update({{"group", process.group}, {"batches", process.batches}, {"items", process.items}});
  json.update({{"progress", process.progress},
               {"heartbeat_age_s", process.heartbeat_age_s},
               {"activity", process.activity},
               {"activity_age_s", process.activity_age_s}});
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
          {"oldest_lease", group.oldest_lease ? to_json(*group.oldest_lease) : Json(nullptr)},
          {"counters", to_json(group.counters)}};
}

Json to_json(const RingReport& ring) {
  Json json{{"name", ring.name}, {"attach", name_of(ring.attach)}, {"detail", ring.detail}};
  if (!ring.readable()) return json;
  json.update({{"state", name_of(ring.state)},
               {"epoch", hex(ring.epoch)},
               {"slots", ring.slots},
               {"slot_bytes", ring.slot_bytes},
               {"items", ring.items},
               {"batches", ring.batches},
               {"finished_before", ring.finished_before},
               {"published", ring.published ? Json(*ring.published) : Json(nullptr)},
               {"drain_requested", ring.drain_requested},
               {"damage", ring.damage ? Json(*ring.damage) : Json(nullptr)},
               {"producer", ring.producer ? to_json(*ring.producer) : Json(nullptr)},
               {"counters", to_json(ring.counters)},
               {"gauges", to_json(ring.gauges)}});
  json["consumers"] = Json::array();
  for (const ParticipantReport& consumer : ring.consumers) json["consumers"].push_back(to_json(consumer));
  json["groups"] = Json::array();
  for (const GroupReport& group : ring.groups) json["groups"].push_back(to_json(group));
  return json;
}

std::string describe(const ParticipantReport& process) {
  return "pid " + std::to_string(process.pid) +
         (process.alive ? ", " + std::string(process.activity) + " for " + seconds(process.activity_age_s)
                        : ", gone for " + seconds(process.heartbeat_age_s));
}

void print(const GroupReport& group, const RingReport& ring) {
  const SlotCounts& slots = group.slots;
  std::cout << "  group " << group.name << ": " << get(group.counters, Counter::kBatches) << " batches, "
            << get(group.counters, Counter::kItems) << " items done, "
            << get(group.counters, Counter::kRedeliveries) << " redelivered, "
            << get(group.counters, Counter::kQuarantined) << " set aside\n    slots: " << slots.free
            << " free, " << slots.filling << " filling, " << slots.ready << " ready, " << slots.leased
            << " leased, " << slots.done << " done"
            << (ring.groups.size() < 2 || group.held_up == 0
                    ? ""
                    : "; " + std::to_string(group.held_up) + " wait for this group alone")
            << '\n';
  if (group.oldest_lease)
    std::cout << "    oldest lease: slot " << group.oldest_lease->slot << " for "
              << seconds(group.oldest_lease->age_s) << " by pid " << group.oldest_lease->pid << ", attempt "
              << group.oldest_lease->attempt << '\n';
  for (const ParticipantReport& consumer : ring.consumers)
    if (consumer.group == group.name)
      std::cout << "    consumer " << consumer.id << ", " << describe(consumer) << ": " << consumer.batches
                << " batches, " << consumer.items << " items\n";
}

void print(const RingReport& ring) {
  std::cout << ring.name << ": ";
  if (!ring.readable()) {
    std::cout << name_of(ring.attach) << (ring.detail.empty() ? "" : ": " + ring.detail) << '\n';
    return;
  }
  std::cout << name_of(ring.state) << (ring.drain_requested ? ", draining" : "") << ", "
            << (ring.published ? std::to_string(*ring.published) : "?") << " of " << ring.batches
            << " batches published, " << ring.slots << " slots of " << rounded_size_text(ring.slot_bytes)
            << ", epoch " << hex(ring.epoch) << '\n';
  if (ring.damage) std::cout << "  damaged: " << *ring.damage << '\n';
  std::cout << "  producer: " << (ring.producer ? describe(*ring.producer) : "none") << ", "
            << get(ring.counters, Counter::kItems) << " items, " << get(ring.counters, Counter::kSkippedItems)
            << " skipped, waited "
            << seconds(static_cast<double>(get(ring.counters, Counter::kStallInputNs)) / 1e9)
            << " for input, " << seconds(static_cast<double>(get(ring.counters, Counter::kStallSlotNs)) / 1e9)
            << " for slots\n";
  for (const GroupReport& group : ring.groups) print(group, ring);
}

std::vector<RingReport> collect(const std::vector<std::string>& names) {
  std::vector<RingReport> rings;
  for (const std::string& name : names) {
    RingReport ring = report_on(RingFiles(name, RingFiles::kControlDirectory), name);
    if (ring.attach != AttachState::kAbsent) rings.push_back(std::move(ring));
  }
  return rings;
}

int status(const Options& options) {
  const auto rings = collect(options.name.empty() ? list_rings() : std::vector<std::string>{options.name});
  if (options.json) {
    Json json{{"rings", Json::array()}};
    for (const RingReport& ring : rings) json["rings"].push_back(to_json(ring));
    std::cout << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
  } else {
    for (const RingReport& ring : rings) print(ring);
  }
  if (!rings.empty()) return kExitDone;
  std::cerr << "tailrace: there is no ring"
            << (options.name.empty() ? " on this machine" : " of pipeline '" + options.name + "'") << '\n';
  return options.name.empty() ? kExitDone : kExitNoDevice;
}

}  // namespace

void add_status(CLI::App& app, Action& action) {
  CLI::App& command = add_command(app, "status", "Show the rings on this machine and who works with them");
  const auto options = std::make_shared<Options>();
  add_ring_name(command, options->name);
  command.add_flag("--json", options->json, "Print JSON; docs/status.md has the keys");
  command.callback([options, &action] { action = [options] { return status(*options); }; });
}

}  // namespace tailrace
