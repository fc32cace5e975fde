#include "ctl/exporter/busy_meter.hpp"

#include <algorithm>
#include <utility>

namespace tailrace {
namespace {

constexpr std::uint64_t kWindowNs = std::chrono::nanoseconds(BusyMeter::kWindow).count();
constexpr std::uint64_t kShortestNs = 1'000'000'000;

}  // namespace

void BusyMeter::add(const RingReport& ring) {
  if (!ring.readable()) return;
  const std::lock_guard lock(mutex_);
  History& history = histories_[ring.name];
  if (std::exchange(history.epoch, ring.epoch) != ring.epoch) history.samples.clear();
  history.samples.push_back({ring.time_ns, get(ring.counters, Counter::kComputeNs)});
  while (history.samples.size() > 1 && history.samples[1].at_ns + kWindowNs <= ring.time_ns)
    history.samples.pop_front();
}

void BusyMeter::forget_gone(std::uint64_t now_ns) {
  const std::lock_guard lock(mutex_);
  std::erase_if(histories_, [now_ns](const auto& entry) {
    return entry.second.samples.back().at_ns + kWindowNs < now_ns;
  });
}

std::optional<double> BusyMeter::busy(const RingReport& ring) const {
  const std::lock_guard lock(mutex_);
  const auto found = histories_.find(ring.name);
  if (found == histories_.end() || found->second.epoch != ring.epoch) return std::nullopt;
  const Sample& since = found->second.samples.front();
  if (ring.time_ns < since.at_ns + kShortestNs) return std::nullopt;
  const std::uint64_t now_ns = get(ring.counters, Counter::kComputeNs);
  const std::uint64_t computed_ns = now_ns - std::min(now_ns, since.compute_ns);
  return std::min(1.0, static_cast<double>(computed_ns) / static_cast<double>(ring.time_ns - since.at_ns));
}

}  // namespace tailrace
