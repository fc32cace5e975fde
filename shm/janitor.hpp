#pragma once

#include <functional>

#include "shm/participant.hpp"
#include "shm/ring.hpp"

namespace tailrace {

/// Gives batches that died with their consumer to the others. Every process has one for each thread that
/// needs it; any number may run at once. The ring must outlive it.
class Janitor {
 public:
  using Report = std::function<void(const ReclaimedLease&)>;

  /// `me`: whose leases are never asked about. `report` is called for each lease that this object took back.
  Janitor(const Ring& ring, ParticipantId me, Report report);

  /// One pass over all words. Returns how many leases were taken back.
  std::size_t do_work();

 private:
  const Ring* ring_;
  ParticipantId me_;
  LockLiveness liveness_;
  Report report_;
};

}  // namespace tailrace
