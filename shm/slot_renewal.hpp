#pragma once

#include <cstdint>

#include "shm/ids.hpp"
#include "shm/ring.hpp"

namespace tailrace {

/// Gives a slot's memory back to the kernel and has its first `bytes` (at most the slot) made anew, zeroed:
/// what a new shared-memory object costs. The rest has no memory until the next call. Called by the producer
/// that claimed the slot, before anything is copied into it. Throws std::system_error: ENOSPC where the file
/// system has no room.
void renew_slot(const Ring& ring, SlotId slot, std::uint64_t bytes);

}  // namespace tailrace
