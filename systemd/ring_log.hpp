#pragma once

#include <string>

#include "shm/housekeeper.hpp"

namespace tailrace {

/// Callbacks that write what happens to a ring's participants and leases into the log, and attempts that
/// ended with a death into the ledger in `state`. Any thread. The ring outlives them.
Housekeeper::Callbacks note_ring_events(const Ring& ring, const std::string& state);

}  // namespace tailrace
