#include "systemd/ring_log.hpp"

#include <spdlog/spdlog.h>

#include "shm/descriptor.hpp"

namespace tailrace {

Housekeeper::Callbacks log_ring_events(const Ring& ring) {
  const auto on_reclaim = [&ring](const ReclaimedLease& lease) {
    const auto& owner = ring.participants()[index_of(lease.owner)];
    spdlog::warn("slot {} with batch {} came home from dead pid {} (group {}, attempt {})",
                 index_of(lease.slot), value_of(read_batch_number(ring.slot(lease.slot))),
                 identity_of(owner).pid, ring.geometry().groups[index_of(lease.group)].name, lease.attempts);
  };
  const auto on_death = [](const PeerDeath& death) {
    spdlog::warn("{} pid {} died{}", death.role == Role::kProducer ? "producer" : "consumer",
                 death.process.pid, death.lock_still_held ? ", but a child of it still holds its lock" : "");
  };
  return {on_reclaim, on_death};
}

}  // namespace tailrace
