#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "shm/ids.hpp"
#include "shm/slot_words.hpp"

namespace tailrace {

/// Who a lease belongs to.
struct Owner {
  ParticipantId id{0};
  std::uint8_t generation = 0;
};

/// A group word as it stands in memory while its lease lasts. Handing it back is a compare-and-swap of
/// exactly this word, so a former owner's late answer changes nothing.
struct LeasedWord {
  SlotId slot{0};
  GroupId group{0};
  std::uint64_t bits = 0;

  [[nodiscard]] GroupWord word() const { return decode_group(bits); }
};

/// What a consumer may lease at this moment.
enum class LeaseFilter {
  kAny,
  kFirstAttemptsOnly,  // it holds another lease: a batch that may kill it must not take a second one along
};

/// How many slots of one group are in which state; a snapshot, for people and back-pressure messages.
struct SlotCounts {
  std::uint32_t free = 0;
  std::uint32_t filling = 0;
  std::uint32_t ready = 0;  // published, nobody has it
  std::uint32_t leased = 0;
  std::uint32_t done = 0;  // by this group, not yet by all or not yet claimed again
};

/// Tells whether the process that wrote (id, generation) into a word is proven dead. Never asked about
/// oneself.
class Liveness {
 public:
  virtual ~Liveness() = default;
  [[nodiscard]] virtual bool is_dead(ParticipantId id, std::uint8_t generation) noexcept = 0;
};

/// A lease that the janitor took from a dead process.
struct ReclaimedLease {
  SlotId slot{0};
  GroupId group{0};
  BatchSeq seq{0};
  std::uint32_t attempts = 0;
  ParticipantId owner{0};
};

/// The slot protocol: transitions over words that somebody else owns. A view; copies are cheap.
///
/// Invariants
///  1. P is written by the living producer only.
///  2. G of a slot is PENDING(s) or LEASED(s) only while P is READY(s).
///  3. P leaves READY(s) only when every G is DONE(s): a leased slot is never overwritten.
///  4. Every transition is one store or one compare-and-swap of one word.
/// Sync points (see docs/ordering.md): [publish] P=READY release → lease's load of P acquire;
/// [commit] G=DONE release → claim's load of G acquire.
class SlotProtocol {
 public:
  using Word = std::atomic<std::uint64_t>;

  /// `producer_words`: one per slot. `group_words`: group-major, slot_count words for each group.
  SlotProtocol(std::span<Word> producer_words, std::span<Word> group_words) noexcept;

  [[nodiscard]] std::size_t slot_count() const noexcept { return producer_.size(); }
  [[nodiscard]] std::size_t group_count() const noexcept { return groups_.size() / producer_.size(); }

  [[nodiscard]] ProducerWord producer_word(SlotId slot) const noexcept;
  [[nodiscard]] GroupWord group_word(SlotId slot, GroupId group) const noexcept;

  // --- producer only, one thread at a time for each slot ---

  /// A slot that may be claimed: a free one first, else the longest published of those that all groups are
  /// done with.
  [[nodiscard]] std::optional<SlotId> find_claimable() const noexcept;
  /// Precondition: find_claimable() gave `slot`, and `seq` is greater than every seq in any word.
  void claim(SlotId slot, BatchSeq seq) noexcept;
  /// Precondition: the slot is FILLING and its bytes are in place.
  void publish(SlotId slot) noexcept;
  /// FILLING → FREE. Precondition: no copy into the slot can still be running.
  void abandon(SlotId slot) noexcept;
  /// Frees every FILLING slot of a predecessor that is proven gone. Returns how many.
  std::size_t recycle_filling() noexcept;
  [[nodiscard]] bool any_filling() const noexcept;

  // --- consumers ---

  /// Leases the lowest seq that `group` may have. Empty: nothing there. One pass; lost races are tried on
  /// other slots.
  [[nodiscard]] std::optional<LeasedWord> try_lease(GroupId group, Owner me, LeaseFilter filter) noexcept;
  /// False: the lease was not (any more) the caller's; nothing has changed.
  [[nodiscard]] bool commit(const LeasedWord& lease) noexcept;
  /// Back to PENDING. `count_attempt` false takes the attempt back (an orderly stop, a full disk).
  [[nodiscard]] bool give_back(const LeasedWord& lease, bool count_attempt) noexcept;

  // --- anybody ---

  /// Takes every lease of a process that is proven dead. Idempotent, may run in any number of processes at
  /// once.
  std::vector<ReclaimedLease> reclaim_dead(Liveness& liveness, ParticipantId me);
  /// Takes every lease that names `id`, whatever its generation. Precondition: the caller holds the lock byte
  /// of `id` and has not used the entry yet.
  std::vector<ReclaimedLease> reclaim_entry(ParticipantId id);

  /// Every READY slot is DONE for `group`.
  [[nodiscard]] bool group_is_done(GroupId group) const noexcept;
  [[nodiscard]] bool all_done() const noexcept { return count_unfinished() == 0; }
  /// READY slots that some group is not done with.
  [[nodiscard]] std::size_t count_unfinished() const noexcept;
  [[nodiscard]] BatchSeq highest_seq() const noexcept;
  [[nodiscard]] SlotCounts count(GroupId group) const noexcept;

  /// Names a word that no sequence of transitions can produce, or empty. May run beside all of the above.
  [[nodiscard]] std::optional<std::string> find_damage(std::size_t participant_count) const;

 private:
  [[nodiscard]] Word& group_bits(SlotId slot, GroupId group) const noexcept {
    return groups_[index_of(group) * producer_.size() + index_of(slot)];
  }
  /// Whether every group is done with the batch whose READY bits are `ready`.
  [[nodiscard]] bool is_done(SlotId slot, std::uint64_t ready) const noexcept;
  [[nodiscard]] std::optional<std::string> damage_of(SlotId slot, GroupId group,
                                                     std::size_t participant_count) const;
  template <typename IsDead>
  std::vector<ReclaimedLease> reclaim_if(IsDead is_dead);

  std::span<Word> producer_;
  std::span<Word> groups_;
};

}  // namespace tailrace
