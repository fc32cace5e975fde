#include "ctl/top_screen.hpp"

#include <algorithm>
#include <array>

#include "config/quantities.hpp"
#include "ctl/figures_text.hpp"
#include "ctl/progress.hpp"
#include "ctl/ring_names.hpp"
#include "ctl/ring_troubles.hpp"
#include "ctl/styled_line.hpp"

namespace tailrace {
namespace {

using Lines = std::vector<StyledLine>;

constexpr std::size_t kLabel = 11;  // columns of what stands at the left
constexpr std::size_t kShortBar = 12;
constexpr std::size_t kWaitBar = 8;
constexpr std::size_t kRoomy = 95;
constexpr std::size_t kWide = 120;  // from here on there is room for stage times
constexpr std::size_t kMostConsumers = 256;

std::string number(std::uint64_t value) { return std::to_string(value); }

StyledLine labelled(const std::string& label) {
  StyledLine line;
  line.add(left_in(label, kLabel), Style::kDim);
  return line;
}

Style style_of_busy(double share) { return share >= 0.9 ? Style::kGood : Style::kBusy; }

// A wait that costs something stands out.
Style style_of_wait(double share) { return share >= 0.25 ? Style::kBold : Style::kPlain; }

StyledLine headline(const RingReport& ring, std::size_t width) {
  StyledLine line;
  line.add(ring.name, Style::kBold);
  if (!ring.readable()) {
    line.add("  " + std::string(ring.access()) + ": " + ring.detail);
    return line;
  }
  line.add("  " + std::string(name_of(ring.state)) + (ring.drain_requested ? ", draining" : ""));
  const std::string slots = number(ring.slots) + " slots of " + rounded_size_text(ring.slot_bytes);
  line.align_right(columns(slots), width).add(slots, Style::kDim);
  return line;
}

StyledLine progress_line(const RingLook& ring, std::size_t width) {
  const RingReport& report = ring.report;
  const double share = report.batches == 0 ? 1
                                           : static_cast<double>(report.published.value_or(0)) /
                                                 static_cast<double>(report.batches);
  std::string text = "  " + percent_text(share) + "  " +
                     (report.published ? number(*report.published) : "?") + " of " + number(report.batches) +
                     " batches";
  const auto left = ring.rates ? remaining_s(report, *ring.rates) : std::nullopt;
  text += left ? "  " + clock_text(*left) + " left" : "";
  StyledLine line = labelled("published");
  const std::size_t used = kLabel + columns(text);
  return line.add_bar(share, used + kShortBar < width ? width - used : kShortBar, Style::kGood).add(text);
}

StyledLine rates_line(const ProducerRates& rates) {
  StyledLine line = labelled("now");
  line.add(right_in(rate_text(rates.batches_per_s), 6) + " batches/s ")
      .add(right_in(rate_text(rates.items_per_s), 6) + " items/s ")
      .add(right_in(byte_rate_text(rates.bytes_per_s), 9) + "  device ")
      .add_bar(rates.device_busy, kShortBar, style_of_busy(rates.device_busy))
      .add(right_in(percent_text(rates.device_busy), 6));
  return line;
}

void add_stages(StyledLine& line, const StageTable& stages, std::size_t width) {
  if (width < kWide) return;
  for (const Stage stage :
       {Stage::kUpload, Stage::kCompute, Stage::kEgressCopy, Stage::kLeaseWait, Stage::kSink})
    if (const StageTimes& times = get(stages, stage); times.count() != 0)
      line.add("   " + std::string(kStageNames[static_cast<std::size_t>(stage)]) + " ", Style::kDim)
          .add(span_text(times.quantile_s(0.5)) + " / " + span_text(times.quantile_s(0.99)));
}

StyledLine producer_line(const RingReport& ring, std::size_t width) {
  StyledLine line = labelled("producer");
  const auto& producer = ring.producer;
  if (!producer) return line.add("none");
  line.add(left_in("pid " + std::to_string(producer->pid), 13));
  if (!producer->alive) return line.add("gone for " + span_text(producer->heartbeat_age_s), Style::kBad);
  line.add(left_in(std::string(producer->activity), 9) + right_in(span_text(producer->activity_age_s), 8),
           stands_still(*producer) ? Style::kBad : Style::kPlain);
  add_stages(line, ring.stages, width);
  return line;
}

// What the producer's time goes to.
StyledLine waits_line(const ProducerRates& rates) {
  StyledLine line = labelled("  waits");
  const auto wait = [&](const char* name, double share, Style style) {
    line.add(name).add_bar(share, kWaitBar, style).add(right_in(percent_text(share), 6));
  };
  wait("input ", rates.input_share, Style::kBad);
  wait("  slot ", rates.slot_share, Style::kBad);
  wait("  device ", rates.compute_share, Style::kBusy);
  return line;
}

StyledLine group_line(const RingLook& ring, std::size_t index, std::size_t width) {
  const GroupReport& group = ring.report.groups[index];
  StyledLine line;
  line.add(left_in("group", kLabel), Style::kDim)
      .add(left_in(group.name, std::max<std::size_t>(13, columns(group.name) + 1)), Style::kBold);
  if (ring.rates) {
    const GroupRates& rates = ring.rates->groups[index];
    line.add(right_in(rate_text(rates.batches_per_s), 6) + " batches/s  busy ")
        .add_bar(rates.busy, kWaitBar, style_of_busy(rates.busy))
        .add(right_in(percent_text(rates.busy), 6) + "  storage ")
        .add(right_in(percent_text(rates.disk_share), 5), style_of_wait(rates.disk_share));
    if (width >= kRoomy) line.add("  waiting ").add(right_in(percent_text(rates.consumer_share), 5));
  }
  add_stages(line, group.stages, width);
  return line;
}

// One mark for each slot where there is room.
StyledLine slots_line(const GroupReport& group, bool is_alone, std::size_t width) {
  struct Kind {
    std::uint32_t count;
    const char* mark;
    const char* name;
    Style style;
  };
  const SlotCounts& slots = group.slots;
  const std::array kinds{
      Kind{slots.filling, "▒", "filling", Style::kBusy}, Kind{slots.ready, "▓", "ready", Style::kBold},
      Kind{slots.leased, "█", "leased", Style::kGood}, Kind{slots.done, "░", "done", Style::kDim},
      Kind{slots.free, "·", "free", Style::kDim}};
  StyledLine line = labelled("  slots");
  std::string counts;
  std::size_t all = 0;
  for (const Kind& kind : kinds) {
    counts += "  " + number(kind.count) + " " + kind.name;
    all += kind.count;
  }
  if (!is_alone && group.held_up != 0) counts += "  " + number(group.held_up) + " held up";
  if (kLabel + all + columns(counts) <= width)
    for (const Kind& kind : kinds)
      for (std::uint32_t i = 0; i < kind.count; ++i) line.add(kind.mark, kind.style);
  return line.add(counts);
}

StyledLine counts_line(const GroupReport& group) {
  StyledLine line = labelled("  done");
  line.add(number(get(group.counters, Counter::kItems)) + " items");
  if (const auto again = get(group.counters, Counter::kRedeliveries); again != 0)
    line.add(", " + number(again) + " batches redelivered");
  if (const auto aside = get(group.counters, Counter::kQuarantined); aside != 0)
    line.add(", " + number(aside) + " set aside", Style::kBad);
  if (group.oldest_ready_age_s) line.add("; oldest ready " + span_text(*group.oldest_ready_age_s));
  if (group.oldest_lease)
    line.add((group.oldest_ready_age_s ? ", leased " : "; oldest leased ") +
             span_text(group.oldest_lease->age_s));
  return line;
}

StyledLine consumer_line(const ParticipantReport& consumer, const std::optional<RingRates>& rates,
                         std::size_t width) {
  StyledLine line = labelled("  consumer");
  line.add(left_in("pid " + std::to_string(consumer.pid), 13));
  if (!consumer.alive) return line.add("gone for " + span_text(consumer.heartbeat_age_s), Style::kBad);
  line.add(left_in(std::string(consumer.activity), 9) + right_in(span_text(consumer.activity_age_s), 8),
           stands_still(consumer) ? Style::kBad : Style::kPlain);
  if (rates)
    for (const ConsumerRates& now : rates->consumers)
      if (now.id == consumer.id)
        line.add(right_in(rate_text(now.batches_per_s), 7) + " batches/s" +
                 right_in(rate_text(now.items_per_s), 7) + " items/s");
  if (width >= kRoomy) line.add(right_in(number(consumer.batches), 9) + " batches");
  return line;
}

void add_consumers(const RingLook& ring, const std::string& group, std::size_t width, std::size_t most,
                   Lines& lines) {
  std::size_t shown = 0;
  std::size_t left_out = 0;
  for (const ParticipantReport& consumer : ring.report.consumers) {
    if (consumer.group != group) continue;
    if (shown == most) {
      ++left_out;
      continue;
    }
    lines.push_back(consumer_line(consumer, ring.rates, width));
    ++shown;
  }
  if (left_out != 0)
    lines.push_back(
        labelled("  consumer")
            .add((shown == 0 ? "" : "and ") + number(left_out) + (shown == 0 ? " of them" : " more"),
                 Style::kDim));
}

void add_ring(const RingLook& ring, std::size_t width, std::size_t most_consumers, Lines& lines) {
  const RingReport& report = ring.report;
  lines.push_back(headline(report, width));
  if (!report.readable()) return;
  for (const Trouble& trouble : troubles_of(report)) {
    lines.emplace_back();
    lines.back().add("  ! " + trouble.text, Style::kBad);
  }
  lines.push_back(progress_line(ring, width));
  if (ring.rates) lines.push_back(rates_line(ring.rates->producer));
  lines.push_back(producer_line(report, width));
  if (ring.rates) lines.push_back(waits_line(ring.rates->producer));
  for (std::size_t i = 0; i < report.groups.size(); ++i) {
    lines.push_back(group_line(ring, i, width));
    lines.push_back(slots_line(report.groups[i], report.groups.size() == 1, width));
    lines.push_back(counts_line(report.groups[i]));
    add_consumers(ring, report.groups[i].name, width, most_consumers, lines);
  }
}

Lines all_lines(const std::string& title, const std::vector<RingLook>& rings, std::size_t width,
                std::size_t most_consumers) {
  Lines lines(1);
  lines[0].add(title, Style::kDim);
  for (const RingLook& ring : rings) {
    lines.emplace_back();
    add_ring(ring, width, most_consumers, lines);
  }
  if (rings.empty()) {
    lines.resize(2);
    lines.emplace_back();
    lines.back().add("no ring; one appears here when a pipeline starts");
  }
  return lines;
}

Lines fitting_lines(const std::string& title, const std::vector<RingLook>& rings, ScreenSize size) {
  Lines lines = all_lines(title, rings, size.columns, kMostConsumers);
  for (std::size_t most = 16; lines.size() > size.rows && most != 0; most /= 2)
    lines = all_lines(title, rings, size.columns, most / 2);
  if (lines.size() <= size.rows || size.rows == 0) return lines;
  const std::size_t left_out = lines.size() - size.rows + 1;
  lines.resize(size.rows);
  lines.back() = StyledLine().add(
      "… " + number(left_out) + " more lines: enlarge the window, or name one pipeline", Style::kDim);
  return lines;
}

}  // namespace

std::vector<std::string> top_screen(const std::string& title, const std::vector<RingLook>& rings,
                                    ScreenSize size, bool colour) {
  std::vector<std::string> screen;
  for (const StyledLine& line : fitting_lines(title, rings, size))
    screen.push_back(line.render(size.columns, colour));
  return screen;
}

}  // namespace tailrace
