#include "shm/janitor.hpp"

#include <utility>

#include "os/failpoint.hpp"

namespace tailrace {

Janitor::Janitor(const Ring& ring, ParticipantId me, Report report)
    : ring_(&ring), me_(me), liveness_(ring), report_(std::move(report)) {}

std::size_t Janitor::do_work() {
  const auto reclaimed = ring_->protocol().reclaim_dead(liveness_, me_);
  if (!reclaimed.empty()) failpoint("mid_reclaim");
  for (const ReclaimedLease& lease : reclaimed) {
    ring_->group_counters(lease.group).add(Counter::kRedeliveries);
    if (report_) report_(lease);
  }
  if (!reclaimed.empty()) ring_->ready_events().notify();
  return reclaimed.size();
}

}  // namespace tailrace
