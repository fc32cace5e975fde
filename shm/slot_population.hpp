#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <system_error>

#include "shm/ids.hpp"
#include "shm/page_report.hpp"
#include "shm/ring.hpp"

namespace tailrace {

struct PopulateOptions {
  int numa_node = -1;  // where the memory should be; -1 = anywhere
};

struct PopulateReport {
  std::uint64_t populated_ns = 0;  // from the call until the last slot had its memory
  std::size_t thread_count = 0;
  std::error_code numa_error;  // why the memory may not be on the node that was asked for
  PageReport pages;
};

using SlotReady = std::function<void(SlotId)>;

/// Gives every slot of a ring its memory, in several threads, and calls `slot_ready` in the calling thread,
/// in the order of the slots, as soon as a slot has it, while later ones still get theirs. What slots hold is
/// kept. Called by the producer, attached as such, while it claims nothing. Throws std::system_error: ENOSPC
/// where the file system has no room, with bytes wanted and there; and what `slot_ready` throws. A memory
/// limit of the cgroup is no error: the kernel kills the process.
PopulateReport populate_slots(const Ring& ring, const PopulateOptions& options, const SlotReady& slot_ready);

}  // namespace tailrace
