#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "shm/byte_lock.hpp"
#include "shm/process_identity.hpp"
#include "shm/ring.hpp"

namespace tailrace {

/// Asks the ring's lock bytes who is alive, anew each time. Not thread-safe: one object per thread.
class LockLiveness final : public Liveness {
 public:
  /// The ring must outlive this object. Throws std::system_error.
  explicit LockLiveness(const Ring& ring);

  [[nodiscard]] bool is_dead(ParticipantId id, std::uint8_t generation) noexcept override;
  /// Somebody holds the entry's lock byte.
  [[nodiscard]] bool is_held(ParticipantId id) const noexcept;

 private:
  const Ring* ring_;
  UniqueFd file_;  // another open file description than the one whose lock is asked about
};

/// This process's entry in the participant table: alive as long as the object is. Leases must be handed back
/// before.
class Participant {
 public:
  /// A consumer's entry. Empty: the table is full. Throws std::system_error.
  static std::optional<Participant> join(const Ring& ring, GroupId group);
  /// The producer's entry 0. Precondition: the caller holds the role byte and the predecessor is proven gone.
  /// Throws std::runtime_error if the entry's lock byte is held all the same (by a child of the predecessor).
  static Participant join_as_producer(const Ring& ring);

  Participant(Participant&&) noexcept = default;
  Participant& operator=(Participant&&) = delete;
  ~Participant();

  [[nodiscard]] ParticipantId id() const noexcept { return id_; }
  [[nodiscard]] Owner owner() const noexcept { return {id_, generation_}; }
  [[nodiscard]] ParticipantRecord& record() const noexcept { return ring_->participants()[index_of(id_)]; }
  /// Says what this process is at from now on, for people who look at the ring.
  void enter(Activity activity) const noexcept;
  /// Says for how long this process may be at one unit of work before whoever looks takes it for stuck.
  void set_progress_limit(std::chrono::nanoseconds limit) const noexcept;
  /// What a dead predecessor of the entry still held.
  [[nodiscard]] const std::vector<ReclaimedLease>& swept() const noexcept { return swept_; }

 private:
  Participant(const Ring& ring, ParticipantId id, ByteLock lock, Role role, GroupId group);

  const Ring* ring_;
  ParticipantId id_;
  std::uint8_t generation_ = 0;
  pid_t pid_ = 0;
  ByteLock lock_;
  std::vector<ReclaimedLease> swept_;
};

/// The process that an entry names; pid 0 = it left in order, or nobody ever used the entry.
ProcessIdentity identity_of(const ParticipantRecord& record) noexcept;

}  // namespace tailrace
