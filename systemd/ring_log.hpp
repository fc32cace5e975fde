#pragma once

#include "shm/housekeeper.hpp"

namespace tailrace {

/// Callbacks that write what happens to a ring's participants and leases into the log. The ring outlives
/// them.
Housekeeper::Callbacks log_ring_events(const Ring& ring);

}  // namespace tailrace
