#include "shm/slot_protocol.hpp"

#include <algorithm>
#include <limits>

namespace tailrace {
namespace {

constexpr SlotId slot_at(std::size_t index) { return SlotId{static_cast<std::uint32_t>(index)}; }
constexpr GroupId group_at(std::size_t index) { return GroupId{static_cast<std::uint32_t>(index)}; }

// "Older", not "different": a consumer that slept between its loads of P and G may see a G that is newer than
// its P, and with "different" it would take a living peer's lease of the newer batch.
constexpr bool may_lease(GroupWord word, BatchSeq published) {
  return (word.state == GroupState::kDone && word.seq < published) ||
         (word.state == GroupState::kPending && word.seq == published);
}

// A group that has not touched this publication yet still shows its previous DONE, without attempts.
constexpr std::uint32_t attempts_so_far(GroupWord word, BatchSeq published) {
  return word.seq == published ? word.attempts : 0;
}

// A published batch that a group is done with shows the same bits in both words: scans compare these, and
// look at the fields only where they differ.
static_assert(encode(ready_word(BatchSeq{7})) == encode(done_word(BatchSeq{7})));

constexpr bool valid(ProducerState state) {
  return state == ProducerState::kFree || state == ProducerState::kFilling || state == ProducerState::kReady;
}

constexpr bool valid(GroupState state) {
  return state == GroupState::kPending || state == GroupState::kLeased || state == GroupState::kDone;
}

// Stray bits must be found: a DONE with an owner, say, is no DONE for claim(), and nobody would ever change
// it.
constexpr bool is_written_by_a_transition(GroupWord word) {
  if (word.state == GroupState::kLeased) return word.attempts != 0 && word.seq != BatchSeq{0};
  if (word.state == GroupState::kPending)
    return word == pending_word(word.seq, word.attempts) && word.seq != BatchSeq{0};
  return word == done_word(word.seq);
}

// kLastSeq is never claimed, and batches are counted from 1.
constexpr bool is_written_by_a_transition(ProducerWord word) {
  return word.state == ProducerState::kFree || (word.seq != BatchSeq{0} && word.seq < kLastSeq);
}

std::string name_of(SlotId slot, GroupId group) {
  return "slot " + std::to_string(index_of(slot)) + ", group " + std::to_string(index_of(group));
}

}  // namespace

SlotProtocol::SlotProtocol(std::span<Word> producer_words, std::span<Word> group_words) noexcept
    : producer_(producer_words), groups_(group_words) {}

ProducerWord SlotProtocol::producer_word(SlotId slot) const noexcept {
  return decode_producer(producer_[index_of(slot)].load(std::memory_order_acquire));
}

GroupWord SlotProtocol::group_word(SlotId slot, GroupId group) const noexcept {
  return decode_group(group_bits(slot, group).load(std::memory_order_acquire));
}

bool SlotProtocol::is_done(SlotId slot, std::uint64_t ready) const noexcept {
  for (std::size_t g = 0; g < group_count(); ++g)
    // [commit]: readers are finished before the slot is written again
    if (group_bits(slot, group_at(g)).load(std::memory_order_acquire) != ready) return false;
  return true;
}

std::optional<SlotId> SlotProtocol::find_claimable() const noexcept {
  std::optional<SlotId> oldest;
  BatchSeq oldest_seq = kLastSeq;
  for (std::size_t s = 0; s < slot_count(); ++s) {
    const std::uint64_t bits = producer_[s].load(std::memory_order_acquire);
    const ProducerWord word = decode_producer(bits);
    if (word.state == ProducerState::kFree) return slot_at(s);
    if (word.state == ProducerState::kReady && word.seq < oldest_seq && is_done(slot_at(s), bits)) {
      oldest = slot_at(s);
      oldest_seq = word.seq;
    }
  }
  return oldest;
}

void SlotProtocol::claim(SlotId slot, BatchSeq seq) noexcept {
  // An exchange, so that no write to the slot's bytes can move before it: a reader without a lease that saw
  // READY before and after its copy has seen whole bytes.
  producer_[index_of(slot)].exchange(encode(filling_word(seq)), std::memory_order_acq_rel);
}

void SlotProtocol::publish(SlotId slot) noexcept {
  const BatchSeq seq = producer_word(slot).seq;
  producer_[index_of(slot)].store(encode(ready_word(seq)), std::memory_order_release);  // [publish]
}

void SlotProtocol::abandon(SlotId slot) noexcept {
  const BatchSeq seq = producer_word(slot).seq;
  producer_[index_of(slot)].store(encode(free_word(seq)), std::memory_order_release);
}

std::size_t SlotProtocol::recycle_filling() noexcept {
  std::size_t recycled = 0;
  for (std::size_t s = 0; s < slot_count(); ++s) {
    if (producer_word(slot_at(s)).state != ProducerState::kFilling) continue;
    abandon(slot_at(s));
    ++recycled;
  }
  return recycled;
}

bool SlotProtocol::any_filling() const noexcept {
  for (std::size_t s = 0; s < slot_count(); ++s)
    if (producer_word(slot_at(s)).state == ProducerState::kFilling) return true;
  return false;
}

std::optional<LeasedWord> SlotProtocol::try_lease(GroupId group, Owner me, LeaseFilter filter) noexcept {
  struct Candidate {
    SlotId slot{0};
    BatchSeq seq = kLastSeq;
    std::uint64_t bits = 0;
  };
  BatchSeq floor{0};  // candidates at or below it were lost to somebody else in this pass
  for (;;) {
    std::optional<Candidate> best;
    for (std::size_t s = 0; s < slot_count(); ++s) {
      const std::uint64_t published_bits = producer_[s].load(std::memory_order_acquire);  // [publish]
      const std::uint64_t bits = group_bits(slot_at(s), group).load(std::memory_order_acquire);
      if (bits == published_bits) continue;  // done
      const ProducerWord published = decode_producer(published_bits);
      if (published.state != ProducerState::kReady || published.seq <= floor) continue;
      if (best && best->seq < published.seq) continue;
      const GroupWord word = decode_group(bits);
      if (!may_lease(word, published.seq)) continue;
      if (filter == LeaseFilter::kFirstAttemptsOnly && attempts_so_far(word, published.seq) > 0) continue;
      best = Candidate{slot_at(s), published.seq, bits};
    }
    if (!best) return std::nullopt;
    const std::uint32_t attempts = attempts_so_far(decode_group(best->bits), best->seq);
    const std::uint64_t leased =
        encode(GroupWord{GroupState::kLeased, count_attempt(attempts), me.id, me.generation, best->seq});
    std::uint64_t expected = best->bits;
    if (group_bits(best->slot, group)
            .compare_exchange_strong(expected, leased, std::memory_order_acq_rel, std::memory_order_relaxed))
      // relaxed on failure: nothing is read through the word that was seen, the scan starts over
      return LeasedWord{best->slot, group, leased};
    floor = best->seq;
  }
}

bool SlotProtocol::commit(const LeasedWord& lease) noexcept {
  std::uint64_t expected = lease.bits;
  return group_bits(lease.slot, lease.group)
      .compare_exchange_strong(expected, encode(done_word(lease.word().seq)), std::memory_order_release,
                               std::memory_order_relaxed);  // [commit]; relaxed: on failure nothing is read
}

bool SlotProtocol::give_back(const LeasedWord& lease, bool count_attempt) noexcept {
  const GroupWord word = lease.word();
  // A saturated count is never taken back: how often the word was leased is no longer known.
  const bool restore = !count_attempt && word.attempts < kMaxCountedAttempts;
  std::uint64_t expected = lease.bits;
  return group_bits(lease.slot, lease.group)
      .compare_exchange_strong(expected, encode(pending_word(word.seq, word.attempts - (restore ? 1 : 0))),
                               std::memory_order_release,
                               std::memory_order_relaxed);  // relaxed: nothing is read
}

template <typename IsDead>
std::vector<ReclaimedLease> SlotProtocol::reclaim_if(IsDead is_dead) {
  std::vector<ReclaimedLease> reclaimed;
  for (std::size_t g = 0; g < group_count(); ++g) {
    for (std::size_t s = 0; s < slot_count(); ++s) {
      auto& bits = group_bits(slot_at(s), group_at(g));
      std::uint64_t seen = bits.load(std::memory_order_acquire);
      const GroupWord word = decode_group(seen);
      if (word.state != GroupState::kLeased || !is_dead(word)) continue;
      // The word names an incarnation that cannot come back, so the exact word still means the same dead
      // lease.
      if (bits.compare_exchange_strong(seen, encode(pending_word(word.seq, word.attempts)),
                                       std::memory_order_acq_rel, std::memory_order_relaxed))
        reclaimed.push_back({slot_at(s), group_at(g), word.seq, word.attempts, word.owner});
    }
  }
  return reclaimed;
}

std::vector<ReclaimedLease> SlotProtocol::reclaim_dead(Liveness& liveness, ParticipantId me) {
  return reclaim_if(
      [&](GroupWord word) { return word.owner != me && liveness.is_dead(word.owner, word.generation); });
}

std::vector<ReclaimedLease> SlotProtocol::reclaim_entry(ParticipantId id) {
  return reclaim_if([&](GroupWord word) { return word.owner == id; });
}

bool SlotProtocol::group_is_done(GroupId group) const noexcept {
  for (std::size_t s = 0; s < slot_count(); ++s) {
    const ProducerWord word = producer_word(slot_at(s));
    if (word.state == ProducerState::kReady && group_word(slot_at(s), group) != done_word(word.seq))
      return false;
  }
  return true;
}

std::size_t SlotProtocol::count_unfinished() const noexcept {
  std::size_t count = 0;
  for (std::size_t s = 0; s < slot_count(); ++s) {
    const ProducerWord word = producer_word(slot_at(s));
    count += word.state == ProducerState::kReady && !is_done(slot_at(s), encode(word)) ? 1 : 0;
  }
  return count;
}

BatchSeq SlotProtocol::highest_seq() const noexcept {
  std::uint64_t highest = 0;
  for (const Word& word : producer_)
    highest = std::max(highest, word.load(std::memory_order_acquire) & kSeqMask);
  for (const Word& word : groups_)
    highest = std::max(highest, word.load(std::memory_order_acquire) & kSeqMask);
  return BatchSeq{highest};
}

SlotCounts SlotProtocol::count(GroupId group) const noexcept {
  SlotCounts counts;
  for (std::size_t s = 0; s < slot_count(); ++s) {
    const ProducerWord published = producer_word(slot_at(s));
    if (published.state == ProducerState::kFree) {
      ++counts.free;
    } else if (published.state == ProducerState::kFilling) {
      ++counts.filling;
    } else {
      const GroupWord word = group_word(slot_at(s), group);
      if (word.state == GroupState::kLeased)
        ++counts.leased;
      else if (word == done_word(published.seq))
        ++counts.done;
      else
        ++counts.ready;
    }
  }
  return counts;
}

std::optional<std::string> SlotProtocol::damage_of(SlotId slot, GroupId group,
                                                   std::size_t participant_count) const {
  auto& bits = group_bits(slot, group);
  const std::uint64_t seen = bits.load(std::memory_order_acquire);
  const GroupWord word = decode_group(seen);
  if (!valid(word.state))
    return name_of(slot, group) + ": state " + std::to_string(static_cast<int>(word.state));
  if (word.state == GroupState::kLeased && index_of(word.owner) >= participant_count)
    return name_of(slot, group) + ": owner " + std::to_string(index_of(word.owner)) + " is outside the table";
  if (!is_written_by_a_transition(word)) return name_of(slot, group) + ": group word " + std::to_string(seen);
  const ProducerWord published = producer_word(slot);
  // P may have moved on after G was read, so only an unchanged G is evidence: while it stands, P cannot go
  // past it.
  if (bits.load(std::memory_order_acquire) != seen) return std::nullopt;
  if (published.seq < word.seq)
    return name_of(slot, group) + ": batch " + std::to_string(value_of(word.seq)) +
           " is newer than the slot's " + std::to_string(value_of(published.seq));
  if (word.state != GroupState::kDone && published != ready_word(word.seq))
    return name_of(slot, group) + ": held although the slot does not hold batch " +
           std::to_string(value_of(word.seq));
  return std::nullopt;
}

std::optional<std::string> SlotProtocol::find_damage(std::size_t participant_count) const {
  for (std::size_t s = 0; s < slot_count(); ++s) {
    const std::uint64_t bits = producer_[s].load(std::memory_order_acquire);
    const ProducerWord word = decode_producer(bits);
    if (!valid(word.state) || encode(word) != bits || !is_written_by_a_transition(word))
      return "slot " + std::to_string(s) + ": producer word " + std::to_string(bits);
    for (std::size_t g = 0; g < group_count(); ++g)
      if (auto damage = damage_of(slot_at(s), group_at(g), participant_count)) return damage;
  }
  return std::nullopt;
}

}  // namespace tailrace
