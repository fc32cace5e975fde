#include "producer/egress/link_check.hpp"

#include <spdlog/spdlog.h>

namespace tailrace {
namespace {

constexpr std::size_t kLeastBytes = std::size_t{16} << 20;  // smaller copies do not fill the link
constexpr double kLeastShare = 0.8;
constexpr double kLeastOverlap = 0.5;

// A slot that nobody reads: one that holds a batch must not be written, not even a batch that is done.
std::span<std::byte> find_unused_slot(const Ring& ring) {
  for (std::uint32_t s = 0; s < ring.geometry().slot_count; ++s)
    if (ring.protocol().producer_word(SlotId{s}).state == ProducerState::kFree) return ring.slot(SlotId{s});
  return {};
}

}  // namespace

void check_link(const Ring& ring, Device& device) {
  std::span<std::byte> target = find_unused_slot(ring);
  if (target.size() < kLeastBytes) target = {};
  const auto figures = device.measure_link(target);
  if (!figures) return;
  // relaxed: a figure for status, nothing is read through it
  ring.producer().gauges.link_bytes_per_s.store(static_cast<std::uint64_t>(figures->plain_bytes_per_s),
                                                std::memory_order_relaxed);
  if (target.empty()) {
    spdlog::info("link: {:.1f} GB/s out of the GPU", figures->plain_bytes_per_s / 1e9);
    return;
  }
  spdlog::info(
      "link: {:.1f} GB/s out of the GPU, {:.1f} GB/s into the ring, {:.0f} % of a copy beside computing",
      figures->plain_bytes_per_s / 1e9, figures->ring_bytes_per_s / 1e9, 100 * figures->overlap);
  const bool pinned = ring.producer().gauges.slots_pinned.load(std::memory_order_relaxed) != 0;
  if (!pinned) return;  // said already, and slow as expected
  if (figures->ring_bytes_per_s < kLeastShare * figures->plain_bytes_per_s)
    spdlog::warn(
        "copies into the ring are slower than the link: is its memory on another NUMA node than the GPU?");
  if (figures->overlap < kLeastOverlap) spdlog::warn("copies into the ring do not run beside computing");
}

}  // namespace tailrace
