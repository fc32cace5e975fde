#include "ctl/doctor/bottleneck.hpp"

#include <algorithm>
#include <cmath>

namespace tailrace {
namespace {

constexpr double kExhausted = 0.8;       // a stage that is busy for so long has hardly anything to give
constexpr double kTinyS = 1e-6;          // what takes less is not there
constexpr std::uint32_t kMostTimes = 4;  // how many times as many processes are advised at most

std::vector<Capacity> capacities_of(const PipelineFigures& f) {
  std::vector<Capacity> capacities;
  const auto add = [&](Bottleneck stage, double seconds, std::uint32_t servers = 1,
                       const std::string& group = {}) {
    if (seconds > kTinyS && servers > 0) capacities.push_back({stage, group, servers / seconds});
  };
  add(Bottleneck::kH2d, f.h2d_s);
  add(Bottleneck::kNothing, f.compute_s);
  if (f.batches_per_s > 0) add(Bottleneck::kCompute, f.shares().own_work() / f.batches_per_s);
  add(Bottleneck::kLink, f.copy_s);
  for (const GroupFigures& group : f.groups)
    add(Bottleneck::kConsumers, group.sink_s, group.consumers, group.name);
  return capacities;
}

const GroupFigures* busiest(const PipelineFigures& f) {
  const auto group = std::max_element(f.groups.begin(), f.groups.end(),
                                      [](const auto& a, const auto& b) { return a.busy < b.busy; });
  return group == f.groups.end() ? nullptr : &*group;
}

Bottleneck device_side(const PipelineFigures& f) {
  if (std::max(f.h2d_busy, f.copy_busy) < kNoticeableShare) return Bottleneck::kCompute;
  return f.h2d_busy > f.copy_busy ? Bottleneck::kH2d : Bottleneck::kLink;
}

Bottleneck consumer_side(const PipelineFigures& f) {
  const GroupFigures* group = busiest(f);
  const double busy = group == nullptr ? 0 : group->busy;
  if (f.copy_busy >= kExhausted && f.copy_busy > busy) return Bottleneck::kLink;
  if (group == nullptr || busy < kExhausted) return Bottleneck::kRing;
  return group->storage >= busy / 2 ? Bottleneck::kDisk : Bottleneck::kConsumers;
}

/// The producer gives the direction, how busy the stages there are gives the name.
Bottleneck name_bottleneck(const PipelineFigures& f) {
  switch (limit_of(f.shares())) {
    case Limit::kModel:
      return Bottleneck::kNothing;
    case Limit::kLoop:
      return Bottleneck::kCompute;
    case Limit::kInput:
      return Bottleneck::kInput;
    case Limit::kSlots:
      return consumer_side(f);
    case Limit::kDevice:
      return device_side(f);
  }
  return Bottleneck::kNothing;
}

bool is_about(const Capacity& capacity, const Verdict& verdict) {
  if (verdict.bottleneck == Bottleneck::kDisk)
    return capacity.stage == Bottleneck::kConsumers && capacity.group == verdict.group;
  return capacity.stage == verdict.bottleneck && capacity.group == verdict.group;
}

const Capacity* lowest(const std::vector<Capacity>& capacities, const Verdict& verdict, bool about) {
  const Capacity* found = nullptr;
  for (const Capacity& capacity : capacities)
    if (is_about(capacity, verdict) == about &&
        (found == nullptr || capacity.batches_per_s < found->batches_per_s))
      found = &capacity;
  return found;
}

/// Batches per second now; where none came in the interval, what the bottleneck allows.
double speed_of(const PipelineFigures& f, const Verdict& verdict) {
  if (f.batches_per_s > 0) return f.batches_per_s;
  const Capacity* own = lowest(verdict.capacities, verdict, true);
  return own == nullptr ? 0 : own->batches_per_s;
}

/// By how much the main loop would be faster without the wait that is to go.
double loop_bound(const ProducerShares& shares, Bottleneck bottleneck) {
  switch (bottleneck) {
    case Bottleneck::kInput:
      return 1 / std::max(1 - shares.waits_input, 1e-3);
    case Bottleneck::kRing:
    case Bottleneck::kConsumers:
    case Bottleneck::kDisk:
      return 1 / std::max(1 - shares.waits_slot, 1e-3);
    case Bottleneck::kCompute:
      return 1 / std::max(1 - shares.own_work(), 1e-3);
    default:
      return 1 / std::max(1 - std::max(shares.waits_beyond_model(), shares.waits_slot), 1e-3);
  }
}

/// What the group could do if its storage took no time.
Capacity without_storage(const GroupFigures& group) {
  const double work = std::clamp(1 - group.storage / std::max(group.busy, kTinyS), kTinyS, 1.0);
  return {Bottleneck::kConsumers, group.name, group.consumers / std::max(group.sink_s * work, kTinyS)};
}

std::optional<Capacity> next_limit(const PipelineFigures& f, const Verdict& verdict) {
  std::optional<Capacity> next;
  if (const Capacity* other = lowest(verdict.capacities, verdict, false)) next = *other;
  if (verdict.bottleneck != Bottleneck::kDisk) return next;
  const Capacity own = without_storage(*busiest(f));
  return !next || own.batches_per_s < next->batches_per_s ? own : next;
}

void set_gain(const PipelineFigures& f, Verdict& verdict) {
  verdict.then = next_limit(f, verdict);
  const double speed = speed_of(f, verdict);
  if (speed <= 0 || verdict.bottleneck == Bottleneck::kNothing) return;
  const double bound = loop_bound(f.shares(), verdict.bottleneck);
  verdict.gain = std::max(1.0, !verdict.then ? bound : std::min(bound, verdict.then->batches_per_s / speed));
}

/// As many as the gain needs, within reason; where that is fewer, the gain is what they bring.
void set_processes(const GroupFigures& group, const PipelineFigures& f, Verdict& verdict) {
  const double speed = speed_of(f, verdict);
  const double wanted = verdict.gain.value_or(2) * speed * group.sink_s;
  const auto whole = static_cast<std::uint32_t>(std::ceil(std::clamp(wanted - 0.05, 0.0, 1e6)));
  const std::uint32_t now = std::max(group.consumers, 1U);
  verdict.processes = std::clamp(whole, now + 1, std::max(kMostTimes * now, now + 1));
  const Capacity then{Bottleneck::kConsumers, group.name, verdict.processes / std::max(group.sink_s, kTinyS)};
  if (!verdict.gain || then.batches_per_s >= *verdict.gain * speed) return;
  verdict.gain = std::max(1.0, then.batches_per_s / speed);
  verdict.then = then;
}

}  // namespace

Verdict find_bottleneck(const PipelineFigures& figures) {
  Verdict verdict;
  verdict.capacities = capacities_of(figures);
  verdict.bottleneck = name_bottleneck(figures);
  const GroupFigures* group = busiest(figures);
  const bool of_group =
      verdict.bottleneck == Bottleneck::kConsumers || verdict.bottleneck == Bottleneck::kDisk;
  if (of_group) verdict.group = group->name;
  verdict.overlaps = verdict.bottleneck != Bottleneck::kLink || figures.copy_busy >= kExhausted;
  set_gain(figures, verdict);
  if (verdict.bottleneck == Bottleneck::kConsumers) set_processes(*group, figures, verdict);
  if (verdict.bottleneck == Bottleneck::kRing) verdict.processes = 2 * figures.slots;
  return verdict;
}

}  // namespace tailrace
