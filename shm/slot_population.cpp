#include "shm/slot_population.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

#include "os/clock.hpp"
#include "shm/mapped_pages.hpp"
#include "shm/no_room.hpp"
#include "shm/ordered_work.hpp"

namespace tailrace {
namespace {

constexpr std::uint64_t kChunkBytes = 32U << 20;  // long enough for a system call, short enough to share out
constexpr std::size_t kMaxThreads = 16;           // more only wait for each other in the kernel

void populate_chunk(const Ring& ring, SlotId slot, std::size_t chunk) {
  const MappedPages pages = ring.slot_pages(slot);
  const std::uint64_t from = chunk * kChunkBytes;
  const std::uint64_t count = std::min(kChunkBytes, pages.bytes.size() - from);
  const std::error_code error = populate(pages.part(from, count));
  if (error == std::errc::no_space_on_device)
    throw no_room(pages.fd, ring.files().data, ring.data_pages().bytes.size());
  if (error) throw std::system_error(error, "cannot allocate memory for " + ring.files().data.string());
}

}  // namespace

PopulateReport populate_slots(const Ring& ring, const PopulateOptions& options, const SlotReady& slot_ready) {
  const std::uint64_t start = monotonic_ns();
  PopulateReport report;
  const MappedPages all = ring.data_pages();
  if (options.numa_node >= 0) report.numa_error = prefer_numa_node(all, options.numa_node);
  ask_for_huge_pages(all);

  OrderedWork amount{ring.geometry().slot_count,
                     (ring.geometry().slot_stride + kChunkBytes - 1) / kChunkBytes};
  amount.thread_count = std::min({kMaxThreads, std::size_t{std::max(1U, std::thread::hardware_concurrency())},
                                  amount.thing_count * amount.part_count});
  report.thread_count = amount.thread_count;
  std::atomic<std::uint64_t> last_ns = start;
  work_in_order(
      amount,
      [&](std::size_t slot, std::size_t chunk) {
        populate_chunk(ring, SlotId{static_cast<std::uint32_t>(slot)}, chunk);
        last_ns = monotonic_ns();
      },
      [&](std::size_t slot) { slot_ready(SlotId{static_cast<std::uint32_t>(slot)}); });
  report.populated_ns = last_ns - start;
  report.pages = report_pages(all.bytes);
  return report;
}

}  // namespace tailrace
