#include "ctl/ring_report.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "ctl/ring_names.hpp"
#include "ctl/ring_watch.hpp"
#include "os/clock.hpp"
#include "shm/descriptor.hpp"
#include "shm/participant.hpp"
#include "shm/producer_role.hpp"

namespace tailrace {
namespace {

CounterValues values_of(const CounterBlock& block) {
  CounterValues values{};
  for (std::size_t i = 0; i < kCounterCount; ++i) values[i] = block.get(static_cast<Counter>(i));
  return values;
}

std::optional<ProducerEndReport> failed_producer_of(const Ring& ring) {
  const auto load = [](const auto& word) { return word.load(std::memory_order_relaxed); };
  const ProducerEnd& end = ring.producer().end;
  const ParticipantRecord& entry = ring.participants()[index_of(kProducerId)];
  if (load(end.generation) == 0) return std::nullopt;
  const bool made_up_for = load(entry.generation) != load(end.generation) && load(entry.batches) != 0;
  if (made_up_for) return std::nullopt;
  return ProducerEndReport{load(end.exit_code), seconds_since(load(end.ended_ns))};
}

bool is_role_held(const RingFiles& files) {
  return find_producer(files) || (access(files.lock.c_str(), R_OK) != 0 && errno == EACCES);
}

GaugeValues values_of(const ProducerGauges& gauges) {
  return {gauges.link_bytes_per_s.load(std::memory_order_relaxed),
          gauges.slots_pinned.load(std::memory_order_relaxed),
          gauges.page_bytes.load(std::memory_order_relaxed),
          gauges.numa_node.load(std::memory_order_relaxed)};
}

// Slots that every other group is done with.
std::uint32_t count_held_up(const Ring& ring, GroupId group) {
  const SlotProtocol protocol = ring.protocol();
  std::uint32_t count = 0;
  for (std::uint32_t s = 0; s < ring.geometry().slot_count; ++s) {
    const ProducerWord word = protocol.producer_word(SlotId{s});
    bool alone = word.state == ProducerState::kReady;
    for (std::uint32_t g = 0; g < ring.geometry().groups.size(); ++g) {
      const bool done = protocol.group_word(SlotId{s}, GroupId{g}) == done_word(word.seq);
      alone = alone && done == (GroupId{g} != group);
    }
    count += alone ? 1 : 0;
  }
  return count;
}

std::optional<ParticipantReport> report_on_participant(const Ring& ring, const LockLiveness& liveness,
                                                       std::uint32_t id) {
  const ParticipantRecord& record = ring.participants()[id];
  const auto load = [](const auto& word) { return word.load(std::memory_order_relaxed); };
  ParticipantReport report{id,
                           {},
                           identity_of(record).pid,
                           liveness.is_held(ParticipantId{id}),
                           load(record.batches),
                           load(record.items),
                           load(record.progress),
                           seconds_since(load(record.heartbeat_ns)),
                           name_of(load(record.activity)),
                           seconds_since(load(record.activity_since_ns)),
                           static_cast<double>(load(record.progress_limit_ns)) / 1e9};
  if (report.pid == 0 && !report.alive) return std::nullopt;
  const std::uint32_t group = load(record.group);
  if (id != index_of(kProducerId) && group < ring.geometry().groups.size())
    report.group = ring.geometry().groups[group].name;
  return report;
}

std::optional<double> oldest_ready_age_s(const Ring& ring, GroupId group) {
  if (!ring.has_data()) return std::nullopt;
  const SlotProtocol protocol = ring.protocol();
  std::optional<double> oldest;
  for (std::uint32_t s = 0; s < ring.geometry().slot_count; ++s) {
    const SlotId slot{s};
    if (protocol.producer_word(slot).state != ProducerState::kReady ||
        protocol.group_word(slot, group).state != GroupState::kPending)
      continue;
    oldest = std::max(oldest.value_or(0), seconds_since(read_stamps(ring.slot(slot)).published_ns));
  }
  return oldest;
}

GroupReport report_on_group(const Ring& ring, GroupId id) {
  const GroupSpec& spec = ring.geometry().groups[index_of(id)];
  const CounterBlock& counters = ring.group_counters(id);
  return {spec.name,
          spec.max_attempts,
          ring.protocol().count(id),
          count_held_up(ring, id),
          oldest_ready_age_s(ring, id),
          find_oldest_lease(ring, id),
          ring.protocol().group_is_done(id),
          values_of(counters),
          read_stages(counters)};
}

void read_ring(const Ring& ring, RingReport& report) {
  const RingGeometry& geometry = ring.geometry();
  report.state = ring.state();
  report.epoch = geometry.epoch;
  report.slots = geometry.slot_count;
  report.slot_bytes = geometry.slot_bytes;
  report.items = geometry.items.position_count;
  report.batches = geometry.items.batch_count();
  report.finished_before = geometry.finished_before;
  report.published = published_batches(ring);
  report.drain_requested = ring.header().drain_requested.load(std::memory_order_acquire) != 0;
  report.failed_producer = failed_producer_of(ring);
  report.role_held = is_role_held(ring.files());
  report.counters = values_of(ring.producer().counters);
  report.gauges = values_of(ring.producer().gauges);
  report.damage = ring.protocol().find_damage(kMaxParticipants);
  const LockLiveness liveness(ring);
  report.producer = report_on_participant(ring, liveness, index_of(kProducerId));
  for (std::uint32_t i = 1; i < kMaxParticipants; ++i)
    if (auto consumer = report_on_participant(ring, liveness, i)) report.consumers.push_back(*consumer);
  report.stages = read_stages(ring.producer().counters);
  for (std::uint32_t g = 0; g < geometry.groups.size(); ++g)
    report.groups.push_back(report_on_group(ring, GroupId{g}));
}

bool may_not_read(const std::filesystem::path& file) {
  return faccessat(AT_FDCWD, file.c_str(), R_OK, AT_EACCESS) != 0 && errno == EACCES;
}

}  // namespace

std::string_view name_of(Activity activity) noexcept {
  const auto index = static_cast<std::size_t>(activity);
  return index < kActivityNames.size() ? kActivityNames[index] : "unknown";
}

std::string_view RingReport::access() const noexcept { return forbidden ? "forbidden" : name_of(attach); }

std::uint32_t RingReport::count_living(const std::string& group) const noexcept {
  return static_cast<std::uint32_t>(
      std::count_if(consumers.begin(), consumers.end(),
                    [&](const ParticipantReport& c) { return c.alive && c.group == group; }));
}

bool RingReport::is_over() const noexcept {
  return std::all_of(groups.begin(), groups.end(),
                     [&](const GroupReport& group) { return has_everything(group); });
}

RingReport report_on(const RingFiles& files, const std::string& name) {
  RingReport report;
  report.time_ns = monotonic_ns();
  report.name = name;
  const AttachAnswer answer = look_at_ring(files, RingAccess::kObserver);
  report.attach = answer.state;
  report.detail = answer.detail;
  report.forbidden = answer.state == AttachState::kIncompatible && may_not_read(files.control);
  if (report.forbidden)
    report.detail +=
        "; it is for root and the members of its group (services: `adduser YOU tailrace`; "
        "others: ring.group and ring.mode)";
  if (answer.ring) read_ring(*answer.ring, report);
  return report;
}

}  // namespace tailrace
