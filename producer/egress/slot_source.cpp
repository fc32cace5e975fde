#include "producer/egress/slot_source.hpp"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <stdexcept>
#include <utility>

#include "os/clock.hpp"
#include "shm/oldest_lease.hpp"

namespace tailrace {
namespace {

constexpr std::chrono::milliseconds kWait{100};
constexpr std::uint64_t kSayAfterNs = 10'000'000'000;

// "; slot 3 held for 12.0 s by pid 77", for the lease of this group that has lasted longest.
std::string describe_oldest_lease(const Ring& ring, GroupId group) {
  const auto lease = find_oldest_lease(ring, group);
  if (!lease || lease->age_s == 0) return {};
  return fmt::format("; slot {} held for {:.1f} s by pid {}", lease->slot, lease->age_s, lease->pid);
}

}  // namespace

std::string describe_slots(const Ring& ring) {
  std::string text;
  for (std::uint32_t g = 0; g < ring.geometry().groups.size(); ++g) {
    const SlotCounts counts = ring.protocol().count(GroupId{g});
    text += fmt::format("{}group {}: {} ready, {} leased, {} done, {} filling, {} free{}",
                        g == 0 ? "" : " | ", ring.geometry().groups[g].name, counts.ready, counts.leased,
                        counts.done, counts.filling, counts.free, describe_oldest_lease(ring, GroupId{g}));
  }
  return text;
}

SlotSource::SlotSource(const Ring& ring, FreeQueue& queue, ShouldStop should_stop)
    : ring_(&ring), queue_(&queue), should_stop_(std::move(should_stop)) {}

std::optional<Filling> SlotSource::take() {
  std::uint64_t say_ns = monotonic_ns() + kSayAfterNs;
  while (!should_stop_()) {
    if (auto filling = queue_->wait_claim(kWait)) return filling;
    if (queue_->exhausted())
      throw std::runtime_error("the ring's sequence numbers are used up; start the producer again");
    if (monotonic_ns() < say_ns) continue;
    spdlog::warn("no free slot, the consumers are behind: {}", describe_slots(*ring_));
    say_ns = monotonic_ns() + kSayAfterNs;
  }
  return std::nullopt;
}

}  // namespace tailrace
