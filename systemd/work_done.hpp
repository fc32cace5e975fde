#pragma once

#include <cstdint>

namespace tailrace {

/// Counts up while the other threads of this process get on with loading something: pages that they touched
/// for the first time (memory that is filled, files that are mapped) and blocks that they read. Stands still
/// while they hang, or spin: a driver that waits for a device looks busy, too. `with_cpu`: computing counts
/// as well, for what runs on the CPU itself. Called by one thread, whose own doings do not count.
std::uint64_t work_done_by_others(bool with_cpu);

}  // namespace tailrace
