#include "ctl/progress.hpp"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <limits>

#include "os/clock.hpp"

namespace tailrace {
namespace {

template <typename... Values>
std::string format(const char* pattern, Values... values) {
  std::array<char, 512> text{};
  std::snprintf(text.data(), text.size(), pattern, values...);
  return text.data();
}

std::string left(std::string text, std::size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text + "  ";
}

std::string right(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text + "  ";
}

std::string short_duration_text(double seconds) {
  return seconds < 60 ? format("%.1f s", seconds) : clock_text(seconds);
}

std::string rates_text(const Rates& rates) {
  return format("%.1f steps/s  %.1f items/s  %.2f GB/s  device busy %.0f%%", rates.steps_per_s,
                rates.items_per_s, rates.bytes_per_s / 1e9, 100 * rates.busy);
}

// Of the group that is worst off.
std::string headline_of(const RunSummary& summary) {
  RunSummary::Group worst = summary.groups.front();
  for (const auto& group : summary.groups) {
    worst.done = std::min(worst.done, group.done);
    worst.skipped = std::max(worst.skipped, group.skipped);
    worst.set_aside = std::max(worst.set_aside, group.set_aside);
    worst.left = std::max(worst.left, group.left);
  }
  const auto& first = summary.groups.front();
  const std::uint64_t items = first.done + first.skipped + first.set_aside + first.left;
  const std::string time = " in " + short_duration_text(summary.wall_s);
  std::string text = summary.pipeline + ": ";
  if (worst.left == 0)
    text += format("%" PRIu64 " items%s: %" PRIu64 " done, %" PRIu64 " skipped, %" PRIu64 " set aside", items,
                   time.c_str(), worst.done, worst.skipped, worst.set_aside);
  else
    text += format("%" PRIu64 " of %" PRIu64 " items are left after%s: run again to go on", worst.left, items,
                   time.c_str() + 3);
  if (summary.before != 0) text += format("; %" PRIu64 " had been finished before", summary.before);
  return text + "\n";
}

std::string producer_deaths_text(const RunSummary& summary) {
  if (summary.producer_deaths == 0) return {};
  std::string restarts = "not started again";
  if (summary.producer_restarts == summary.producer_deaths)
    restarts = "started again";
  else if (summary.producer_restarts != 0)
    restarts = format("started again %u time(s)", summary.producer_restarts);
  return format("  the producer died %u time(s) and was %s\n", summary.producer_deaths, restarts.c_str());
}

}  // namespace

std::uint64_t Progress::items_behind() const {
  std::uint64_t items = std::numeric_limits<std::uint64_t>::max();
  for (const GroupProgress& group : groups) items = std::min(items, group.items);
  return groups.empty() ? 0 : std::min(finished_before + items + skipped, item_count);
}

const GroupProgress& Progress::slowest() const {
  return *std::min_element(groups.begin(), groups.end(), [](const GroupProgress& a, const GroupProgress& b) {
    return a.batches < b.batches;
  });
}

Progress read_progress(const Ring& ring) {
  Progress progress;
  progress.time_ns = monotonic_ns();
  progress.item_count = ring.geometry().items.position_count;
  progress.batch_count = ring.geometry().items.batch_count();
  progress.finished_before = ring.geometry().finished_before;
  const CounterBlock& producer = ring.producer().counters;
  progress.published = producer.get(Counter::kBatches);
  progress.skipped = producer.get(Counter::kSkippedItems);
  progress.bytes = producer.get(Counter::kBytes);
  progress.compute_ns = producer.get(Counter::kComputeNs);
  progress.draining = ring.header().drain_requested.load(std::memory_order_acquire) != 0;
  for (std::uint32_t g = 0; g < ring.geometry().groups.size(); ++g) {
    const CounterBlock& counters = ring.group_counters(GroupId{g});
    progress.groups.push_back({ring.geometry().groups[g].name, counters.get(Counter::kBatches),
                               counters.get(Counter::kItems), counters.get(Counter::kQuarantined),
                               counters.get(Counter::kRedeliveries), ring.protocol().count(GroupId{g})});
  }
  return progress;
}

Rates rates_between(const Progress& earlier, const Progress& later) {
  if (later.time_ns <= earlier.time_ns) return {};
  const double seconds = static_cast<double>(later.time_ns - earlier.time_ns) / 1e9;
  const auto rate = [&](std::uint64_t from, std::uint64_t to) {
    return to <= from ? 0.0 : static_cast<double>(to - from) / seconds;
  };
  return {rate(earlier.published, later.published), rate(earlier.items_behind(), later.items_behind()),
          rate(earlier.bytes, later.bytes), std::min(rate(earlier.compute_ns, later.compute_ns) / 1e9, 1.0)};
}

Rates RateMeter::add(const Progress& progress) {
  samples_.push_back(progress);
  while (samples_.size() > 2 && is_over(samples_[1], progress)) samples_.pop_front();
  return rates_between(samples_.front(), progress);
}

// Whether the window may begin with `second`, so that the first sample is not needed any more.
bool RateMeter::is_over(const Progress& second, const Progress& last) const {
  const std::uint64_t age_ns = last.time_ns - second.time_ns;
  const bool tells_enough = last.published >= second.published + kLeastSteps;
  return age_ns >= (tells_enough ? window_ns_ : kMaxWindows * window_ns_);
}

std::string progress_line(const std::string& pipeline, const Progress& progress, const Rates& rates) {
  const std::uint64_t behind = progress.items_behind();
  const double share =
      progress.item_count == 0 ? 1.0 : static_cast<double>(behind) / static_cast<double>(progress.item_count);
  std::string line = format("%s %3.0f%% %" PRIu64 "/%" PRIu64 " items", pipeline.c_str(),
                            100 * std::min(share, 1.0), behind, progress.item_count);
  if (progress.draining)
    line += "  draining";
  else if (rates.items_per_s > 0)
    line += "  ETA " + clock_text(static_cast<double>(progress.item_count - behind) / rates.items_per_s);
  line += "  " + rates_text(rates);
  if (progress.groups.empty()) return line;
  const SlotCounts& slots = progress.slowest().slots;
  return line + format("  slots: %u free %u filling %u ready %u leased %u done", slots.free, slots.filling,
                       slots.ready, slots.leased, slots.done);
}

std::string summary_text(const RunSummary& summary) {
  std::size_t width = 5;
  for (const auto& group : summary.groups) width = std::max(width, group.name.size());
  std::string text = headline_of(summary);
  if (summary.rates) text += "  " + rates_text(*summary.rates) + "\n";
  text += "  " + left("group", width) + "      done   skipped  set aside  redelivered  deaths  output\n";
  for (const auto& group : summary.groups)
    text += "  " + left(group.name, width) + right(std::to_string(group.done), 10) +
            right(std::to_string(group.skipped), 8) + right(std::to_string(group.set_aside), 9) +
            right(std::to_string(group.redeliveries), 11) + right(std::to_string(group.deaths), 6) +
            group.output + "\n";
  return text + producer_deaths_text(summary);
}

std::string clock_text(double seconds) {
  const double bounded = std::clamp(seconds, 0.0, 359'999.0);  // 99:59:59
  const auto total = static_cast<unsigned>(bounded);
  if (total >= 3600) return format("%u:%02u:%02u", total / 3600, total / 60 % 60, total % 60);
  return format("%u:%02u", total / 60, total % 60);
}

}  // namespace tailrace
