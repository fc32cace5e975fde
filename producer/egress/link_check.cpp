#include "producer/egress/link_check.hpp"

#include <spdlog/spdlog.h>

#include <optional>

#include "producer/errors.hpp"

namespace tailrace {
namespace {

constexpr std::size_t kLeastBytes = std::size_t{16} << 20;  // smaller copies do not fill the link
constexpr double kLeastShare = 0.8;
constexpr double kLeastOverlap = 0.5;

// A slot to copy into: one that holds nothing, since a batch must not be overwritten, not even one that is
// done; of a pinned ring, since others are slow as expected, and may have no memory yet.
std::span<std::byte> find_target(const Ring& ring) {
  if (ring.producer().gauges.slots_pinned.load(std::memory_order_relaxed) == 0) return {};
  if (ring.geometry().slot_bytes < kLeastBytes) return {};
  for (std::uint32_t s = 0; s < ring.geometry().slot_count; ++s)
    if (ring.protocol().producer_word(SlotId{s}).state == ProducerState::kFree) return ring.slot(SlotId{s});
  return {};
}

void judge(const LinkFigures& figures) {
  spdlog::info(
      "link: {:.1f} GB/s out of the GPU, {:.1f} GB/s into the ring, {:.0f} % of a copy beside computing",
      figures.plain_bytes_per_s / 1e9, figures.ring_bytes_per_s / 1e9, 100 * figures.overlap);
  if (figures.ring_bytes_per_s < kLeastShare * figures.plain_bytes_per_s)
    spdlog::warn(
        "copies into the ring are slower than the link: is its memory on another NUMA node than the GPU?");
  if (figures.overlap < kLeastOverlap) spdlog::warn("copies into the ring do not run beside computing");
}

// A pipeline that just fits must not fail for want of memory to measure with.
std::optional<LinkFigures> measure(Device& device, std::span<std::byte> target) {
  try {
    return device.measure_link(target);
  } catch (const OutOfDeviceMemory& error) {
    spdlog::info("link: not measured, {}", error.what());
    return std::nullopt;
  }
}

}  // namespace

void check_link(const Ring& ring, Device& device) {
  const std::span<std::byte> target = find_target(ring);
  const auto figures = measure(device, target);
  if (!figures) return;
  // relaxed: a figure for status, nothing is read through it
  ring.producer().gauges.link_bytes_per_s.store(static_cast<std::uint64_t>(figures->plain_bytes_per_s),
                                                std::memory_order_relaxed);
  if (target.empty())
    spdlog::info("link: {:.1f} GB/s out of the GPU", figures->plain_bytes_per_s / 1e9);
  else
    judge(*figures);
}

}  // namespace tailrace
