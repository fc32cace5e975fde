#include "shm/participant.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <stdexcept>

#include "os/clock.hpp"
#include "os/failpoint.hpp"

namespace tailrace {

LockLiveness::LockLiveness(const Ring& ring) : ring_(&ring), file_(reopen(ring.control_fd(), O_RDONLY)) {}

bool LockLiveness::is_held(ParticipantId id) const noexcept {
  return is_byte_locked(file_.get(), static_cast<off_t>(index_of(id)));
}

bool LockLiveness::is_dead(ParticipantId id, std::uint8_t generation) noexcept {
  // The table first: if the entry is taken over between the two questions, its new owner has swept the word
  // before it raised the generation, and the caller's compare-and-swap of the old word fails.
  const auto now = ring_->participants()[index_of(id)].generation.load(std::memory_order_acquire);
  return static_cast<std::uint8_t>(now) != generation || !is_held(id);
}

std::optional<Participant> Participant::join(const Ring& ring, GroupId group) {
  ByteLock lock(reopen(ring.control_fd(), O_RDWR));
  for (std::uint32_t i = 1; i < kMaxParticipants; ++i)
    if (lock.try_lock(static_cast<off_t>(i)))
      return Participant(ring, ParticipantId{i}, std::move(lock), Role::kConsumer, group);
  return std::nullopt;
}

Participant Participant::join_as_producer(const Ring& ring) {
  ByteLock lock(reopen(ring.control_fd(), O_RDWR));
  if (!lock.try_lock(static_cast<off_t>(index_of(kProducerId))))
    throw std::runtime_error("the previous producer is gone, but a child of it still holds its lock");
  return {ring, kProducerId, std::move(lock), Role::kProducer, GroupId{0}};
}

Participant::Participant(const Ring& ring, ParticipantId id, ByteLock lock, Role role, GroupId group)
    : ring_(&ring), id_(id), lock_(std::move(lock)) {
  swept_ = ring.protocol().reclaim_entry(id);
  failpoint("mid_join");
  ParticipantRecord& entry = record();
  const ProcessIdentity me = own_identity();
  pid_ = me.pid;
  // relaxed: the fields are read by those who saw the raised generation, which is stored last
  entry.role.store(role, std::memory_order_relaxed);
  entry.group.store(static_cast<std::uint32_t>(index_of(group)), std::memory_order_relaxed);
  entry.start_time.store(me.start_time, std::memory_order_relaxed);
  entry.pid_namespace.store(me.pid_namespace, std::memory_order_relaxed);
  entry.heartbeat_ns.store(monotonic_ns(), std::memory_order_relaxed);
  entry.activity.store(Activity::kWaiting, std::memory_order_relaxed);
  entry.activity_since_ns.store(monotonic_ns(), std::memory_order_relaxed);
  for (auto* counter :
       {&entry.progress, &entry.batches, &entry.items, &entry.bytes, &entry.progress_limit_ns})
    counter->store(0, std::memory_order_relaxed);
  entry.pid.store(static_cast<std::uint32_t>(me.pid), std::memory_order_relaxed);
  const std::uint32_t generation = entry.generation.load(std::memory_order_relaxed) + 1;
  entry.generation.store(generation, std::memory_order_release);
  generation_ = static_cast<std::uint8_t>(generation);
  for (const ReclaimedLease& lease : swept_) ring.group_counters(lease.group).add(Counter::kRedeliveries);
  if (!swept_.empty()) ring.ready_events().notify();
}

Participant::~Participant() {
  if (lock_.fd() < 0) return;    // moved from
  if (pid_ != getpid()) return;  // a forked child does not speak for its parent
  // Copies into slots that are still FILLING may be running for as long as the process lives: the next
  // producer has to find its pid and wait.
  if (id_ != kProducerId || !ring_->protocol().any_filling())
    record().pid.store(0, std::memory_order_release);
  lock_.release();
}

void Participant::enter(Activity activity) const noexcept {
  if (record().activity.load(std::memory_order_relaxed) == activity) return;
  record().activity.store(activity, std::memory_order_relaxed);
  record().activity_since_ns.store(monotonic_ns(), std::memory_order_relaxed);
}

void Participant::set_progress_limit(std::chrono::nanoseconds limit) const noexcept {
  record().progress_limit_ns.store(static_cast<std::uint64_t>(limit.count()), std::memory_order_relaxed);
}

ProcessIdentity identity_of(const ParticipantRecord& record) noexcept {
  record.generation.load(std::memory_order_acquire);
  return {static_cast<pid_t>(record.pid.load(std::memory_order_acquire)),
          record.start_time.load(std::memory_order_relaxed),
          record.pid_namespace.load(std::memory_order_relaxed)};
}

}  // namespace tailrace
