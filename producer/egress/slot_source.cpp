#include "producer/egress/slot_source.hpp"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <stdexcept>
#include <utility>

#include "shm/clock.hpp"
#include "shm/participant.hpp"

namespace tailrace {
namespace {

constexpr std::chrono::milliseconds kWait{100};
constexpr std::uint64_t kSayAfterNs = 10'000'000'000;

// "; slot 3 held for 12.0 s by pid 77", for the lease of this group that has lasted longest.
std::string describe_oldest_lease(const Ring& ring, GroupId group) {
  const SlotProtocol protocol = ring.protocol();
  std::uint64_t oldest_ns = UINT64_MAX;
  std::string text;
  for (std::uint32_t s = 0; s < ring.geometry().slot_count; ++s) {
    const GroupWord word = protocol.group_word(SlotId{s}, group);
    const LeaseStamp& stamp = ring.lease_stamp(SlotId{s}, group);
    const std::uint64_t leased_ns = stamp.leased_ns.load(std::memory_order_relaxed);
    if (word.state != GroupState::kLeased || leased_ns >= oldest_ns ||
        stamp.seq.load(std::memory_order_relaxed) != value_of(word.seq))
      continue;
    oldest_ns = leased_ns;
    text = fmt::format("; slot {} held for {:.1f} s by pid {}", s,
                       static_cast<double>(monotonic_ns() - leased_ns) / 1e9,
                       identity_of(ring.participants()[index_of(word.owner)]).pid);
  }
  return text;
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
