#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "shm/janitor.hpp"
#include "shm/participant.hpp"
#include "shm/ring.hpp"

namespace tailrace {

class ReadyQueue;

/// A consumer's temporary hold on a slot; goes home by itself. Single-use: after commit() or give_back() it
/// is empty. Destroying one that was not ended (an exception in the processing) gives it back with the
/// attempt counted.
class Lease {
 public:
  Lease() = default;
  Lease(Lease&& other) noexcept : queue_(std::exchange(other.queue_, nullptr)), word_(other.word_) {}
  Lease& operator=(Lease&& other) noexcept;
  ~Lease();

  explicit operator bool() const noexcept { return queue_ != nullptr; }
  [[nodiscard]] SlotId slot() const noexcept { return word_.slot; }
  [[nodiscard]] BatchSeq seq() const noexcept { return word_.word().seq; }
  /// 1 for the first consumer that gets the batch.
  [[nodiscard]] std::uint32_t attempts() const noexcept { return word_.word().attempts; }
  /// Earlier holders used up the group's max_attempts: save the bytes and the reason, parse nothing, commit.
  [[nodiscard]] bool is_quarantine() const noexcept;
  /// Even saving the bytes killed two holders: save the reason alone.
  [[nodiscard]] bool is_reason_only() const noexcept;
  /// The slot's bytes; valid until the lease ends.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept;

  /// The batch is done for the group. False: the lease was not the caller's any more (counted; the batch
  /// stays whole).
  bool commit() noexcept;
  /// Unfinished, for a reason that is not the batch's (an orderly stop, a full disk): the attempt is not
  /// counted.
  bool give_back() noexcept;

 private:
  friend class ReadyQueue;
  Lease(ReadyQueue& queue, LeasedWord word) noexcept : queue_(&queue), word_(word) {}
  enum class End { kCommit, kGiveBack, kGiveBackCounted };
  bool end(End how) noexcept;

  ReadyQueue* queue_ = nullptr;
  LeasedWord word_;
};

enum class LeaseOutcome {
  kLeased,
  kEmpty,     // nothing at present
  kFinished,  // the job is finished and every batch is done for this group
  kRetired,   // end all leases, leave, attach to the ring that follows
};

/// The queue of filled buffers of one group: a view of the slots' words, ordered by seq. One consumer thread
/// uses it; ring, participant and janitor outlive it, and it outlives its leases.
class ReadyQueue {
 public:
  ReadyQueue(const Ring& ring, GroupId group, const Participant& participant, Janitor& janitor,
             std::chrono::nanoseconds spin);
  ReadyQueue(const ReadyQueue&) = delete;
  ReadyQueue& operator=(const ReadyQueue&) = delete;

  /// Leases the oldest batch that this group still needs. `lease` must be empty.
  [[nodiscard]] LeaseOutcome try_lease(Lease& lease) noexcept;
  /// The same, but waits up to `timeout` for one; a wait in vain ends with a janitor pass and a last look.
  [[nodiscard]] LeaseOutcome wait_lease(Lease& lease, std::chrono::milliseconds timeout);

  /// How long a wait looks busily before it sleeps, from now on.
  void set_spin(std::chrono::nanoseconds spin) noexcept { spin_ = spin; }

  [[nodiscard]] std::size_t held_count() const noexcept { return held_; }

 private:
  friend class Lease;

  const Ring* ring_;
  GroupId group_;
  const Participant* participant_;
  Janitor* janitor_;
  std::chrono::nanoseconds spin_;
  std::uint32_t max_attempts_;
  SlotProtocol protocol_;
  std::size_t held_ = 0;
  bool holds_suspect_ = false;  // a batch that was leased before: nothing else is taken along with it
};

}  // namespace tailrace
