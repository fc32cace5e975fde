#include "ctl/exporter/health.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

#include "config/exit_codes.hpp"

namespace tailrace {
namespace {

std::string seconds(double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.0f s", value);
  return text.data();
}

std::string describe(const ParticipantReport& process) {
  return (process.group.empty() ? "the producer"
                                : "consumer " + std::to_string(process.id) + " of group " + process.group) +
         ", pid " + std::to_string(process.pid) + ",";
}

bool is_alive(const std::optional<ParticipantReport>& process) { return process && process->alive; }

/// Somebody else is to blame: nothing to lease, no free slot, storage that refuses (it gives up by itself).
bool rightly_waits(const ParticipantReport& process, const RingReport& ring) {
  const auto is_at = [&process](Activity activity) { return process.activity == name_of(activity); };
  if (is_at(Activity::kWaiting) || is_at(Activity::kDraining) || is_at(Activity::kRetrying)) return true;
  // In `slot` a producer may also wait for copies that do not end.
  return is_at(Activity::kSlot) && (ring.groups.empty() || ring.groups.front().slots.filling == 0);
}

void judge_progress(const ParticipantReport& process, const RingReport& ring, Health& health) {
  const double limit_s = process.progress_limit_s > 0 ? process.progress_limit_s : kDefaultProgressLimitS;
  if (!process.alive) return;
  if (process.heartbeat_age_s > limit_s)
    health.not_live.push_back(describe(process) + " does not run: no heartbeat for " +
                              seconds(process.heartbeat_age_s));
  else if (process.activity_age_s > limit_s && !rightly_waits(process, ring))
    health.not_live.push_back(describe(process) + " is stuck in " + std::string(process.activity) + " for " +
                              seconds(process.activity_age_s) + ", longer than its " + seconds(limit_s));
}

void judge_failure(const RingReport& ring, Health& health) {
  if (!ring.failed_producer) return;
  const std::uint32_t code = ring.failed_producer->exit_code;
  health.not_live.push_back(
      "a producer ended with exit code " + std::to_string(code) + (code == kExitGpu ? " (GPU error) " : " ") +
      seconds(ring.failed_producer->age_s) + " ago, and no other one has published since");
}

void judge_producer(const RingReport& ring, Health& health) {
  if (is_alive(ring.producer)) {
    if (ring.producer->batches == 0)
      health.not_ready.emplace_back("the producer has not published anything yet");
    return;
  }
  health.not_ready.emplace_back(ring.role_held ? "the producer is starting" : "there is no producer");
  if (!ring.role_held && ring.producer && ring.producer->heartbeat_age_s > kReplacedWithinS)
    health.not_live.push_back("the producer, pid " + std::to_string(ring.producer->pid) + ", is dead for " +
                              seconds(ring.producer->heartbeat_age_s) + " and not replaced");
}

void judge_groups(const RingReport& ring, Health& health) {
  for (const GroupReport& group : ring.groups) {
    // Of a finished ring consumers leave once they have everything.
    const bool has_all = ring.state == RingState::kFinished && group.done;
    const bool served = std::any_of(ring.consumers.begin(), ring.consumers.end(), [&](const auto& consumer) {
      return consumer.alive && consumer.group == group.name;
    });
    if (!served && !has_all) health.not_ready.push_back("group " + group.name + " has no consumer");
  }
}

void judge_readable(const RingReport& ring, Health& health) {
  if (ring.damage) health.not_live.push_back("the ring is damaged: " + *ring.damage);
  judge_failure(ring, health);
  if (ring.producer) judge_progress(*ring.producer, ring, health);
  for (const ParticipantReport& consumer : ring.consumers) judge_progress(consumer, ring, health);
  if (ring.state == RingState::kRetired) health.not_ready.emplace_back("the ring is about to be replaced");
  if (ring.drain_requested) health.not_ready.emplace_back("it drains");
  judge_producer(ring, health);
  judge_groups(ring, health);
}

void judge_unreadable(const RingReport& ring, Health& health) {
  if (ring.attach == AttachState::kInitialising)
    health.not_ready.emplace_back("the ring is being made");
  else
    health.not_live.push_back("the ring cannot be read: " + ring.detail);
}

}  // namespace

Health judge(const RingReport& ring) {
  Health health;
  if (ring.readable())
    judge_readable(ring, health);
  else
    judge_unreadable(ring, health);
  health.not_ready.insert(health.not_ready.begin(), health.not_live.begin(), health.not_live.end());
  return health;
}

}  // namespace tailrace
