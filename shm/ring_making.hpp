#pragma once

#include "shm/ring.hpp"

namespace tailrace {

/// From the beginning of one slot to that of the next, in bytes.
std::uint64_t slot_stride_for(std::uint64_t slot_bytes) noexcept;

/// Configurations are checked elsewhere; this keeps a caller's slip from becoming a ring that nobody can
/// attach. Throws std::invalid_argument.
void check_spec(const RingSpec& spec);

/// Makes the files of a new ring, which starts with batch 0. Called by the holder of the producer's
/// role. The data file first, then the control file with its version last; both under names that nobody looks
/// at, and renamed in the same order, so that whoever finds a control file finds all of the ring, or a pair
/// with different epochs. Of the data file only the header has its memory: the slots get theirs by
/// RingOwner::populate or renew_slot. Precondition: check_spec. Throws std::system_error (no room, no
/// permission), and leaves no unfinished file then.
void make_ring_files(const RingFiles& files, const RingSpec& spec);

}  // namespace tailrace
