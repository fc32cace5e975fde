#include "producer/egress/ring_memory.hpp"

#include <spdlog/spdlog.h>

#include "config/quantities.hpp"
#include "os/clock.hpp"

namespace tailrace {
namespace {

double seconds(std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e9; }

std::string describe(const Ring& ring) {
  return fmt::format("ring of {} slots of {} in {}", ring.geometry().slot_count,
                     rounded_size_text(ring.geometry().slot_bytes), ring.files().data.parent_path().string());
}

// "2 MiB"; "2 MiB (61 %)" where the rest is in small pages.
std::string page_text(const PageReport& pages) {
  std::string size = size_text(pages.page_bytes());
  // The file's header had its memory before huge pages were asked for.
  const bool all_slots = pages.resident_bytes - pages.huge_bytes < kSlotAlignment;
  if (pages.page_bytes() == pages.base_page_bytes || all_slots) return size;
  return fmt::format("{} ({} %)", size, pages.huge_bytes * 100 / pages.resident_bytes);
}

void warn_of_numa(int node, std::error_code error) {
  spdlog::warn(
      "the ring's memory is not placed on NUMA node {}, the GPU's: {}; copies may cross to another socket "
      "(containers: --cap-add SYS_NICE; or start the producer with numactl --preferred={})",
      node, error.message(), node);
}

}  // namespace

RingMemory::RingMemory(const RingOwner& owner, EgressStrategyKind strategy, Device& device,
                       const OnSlot& on_slot)
    : pins_(owner.ring(), device) {
  ProducerGauges& gauges = owner.ring().producer().gauges;
  gauges.slots_pinned = 0;  // what a predecessor had
  gauges.page_bytes = 0;
  gauges.numa_node = device.numa_node();
  if (strategy == EgressStrategyKind::kWorkers)
    spdlog::info("{}: each batch gets its memory anew", describe(owner.ring()));
  else
    populate(owner, device.numa_node(), device.is_cuda() && copies_overlap(strategy), on_slot);
}

void RingMemory::populate(const RingOwner& owner, int node, bool pinned, const OnSlot& on_slot) {
  const std::uint64_t start = monotonic_ns();
  const PopulateReport report = owner.populate({node}, [&](SlotId slot) {
    if (pinned) pins_.pin(slot);
    if (on_slot) on_slot(index_of(slot) + 1);
  });
  const std::uint64_t ready_ns = monotonic_ns() - start;
  ProducerGauges& gauges = owner.ring().producer().gauges;
  gauges.slots_pinned = pins_.count();
  gauges.page_bytes = report.pages.page_bytes();
  if (report.numa_error) warn_of_numa(node, report.numa_error);
  if (!pins_.failure().empty())
    spdlog::warn("the ring is NOT PINNED, copies will not overlap: {}", pins_.failure());
  spdlog::info(
      "{}: ready in {:.2f} s (populate {:.2f} s on {} threads, pin {:.2f} s), pages {}, NUMA node {}, {}",
      describe(owner.ring()), seconds(ready_ns), seconds(report.populated_ns), report.thread_count,
      seconds(pins_.busy_ns()), page_text(report.pages),
      node < 0 || report.numa_error ? "any" : std::to_string(node),
      !pinned                   ? "pinning not needed"
      : pins_.failure().empty() ? "pinned"
                                : "NOT PINNED");
}

}  // namespace tailrace
