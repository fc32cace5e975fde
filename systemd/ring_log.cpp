#include "systemd/ring_log.hpp"

#include <spdlog/spdlog.h>

#include "ledger/incidents.hpp"
#include "shm/descriptor.hpp"
#include "systemd/log_batch.hpp"

namespace tailrace {
namespace {

void note_reclaimed(const Ring& ring, const std::string& state, const ReclaimedLease& lease) {
  const auto batch = value_of(read_batch_number(ring.slot(lease.slot)));
  const auto pid = identity_of(ring.participants()[index_of(lease.owner)]).pid;
  const LogBatch about(BatchNumber{batch});
  const std::string& group = ring.geometry().groups[index_of(lease.group)].name;
  spdlog::warn("slot {} with batch {} came home from dead pid {} (group {}, attempt {})",
               index_of(lease.slot), batch, pid, group, lease.attempts);
  try {
    note_failure(state, {group, batch, lease.attempts, pid, "died"});
  } catch (const LedgerError& error) {
    spdlog::warn("{}", error.what());
  }
}

void log_death(const PeerDeath& death) {
  spdlog::warn("{} pid {} died{}", death.role == Role::kProducer ? "producer" : "consumer", death.process.pid,
               death.lock_still_held ? ", but a child of it still holds its lock" : "");
}

}  // namespace

Housekeeper::Callbacks note_ring_events(const Ring& ring, const std::string& state) {
  return {[&ring, state](const ReclaimedLease& lease) { note_reclaimed(ring, state, lease); }, log_death, {}};
}

}  // namespace tailrace
