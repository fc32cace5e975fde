#pragma once

#include <algorithm>
#include <cstdint>

#include "shm/ids.hpp"

namespace tailrace {

// The two kinds of words that are the truth about a slot. Everything that one process must learn about
// another's doing is in one such word, so that it changes at once or not at all.
//
//   producer word  P[slot]         state:3 | 0:21                                  | seq:40
//   group word     G[slot][group]  state:3 | attempts:5 | owner:8 | generation:8   | seq:40

inline constexpr int kSeqBits = 40;
inline constexpr std::uint64_t kSeqMask = (std::uint64_t{1} << kSeqBits) - 1;
/// At this sequence number the producer retires the ring: sequence numbers are compared with `<` and never
/// wrap.
inline constexpr BatchSeq kLastSeq{kSeqMask};

inline constexpr std::uint32_t kMaxCountedAttempts = 31;

enum class ProducerState : std::uint8_t { kFree = 1, kFilling = 2, kReady = 3 };

struct ProducerWord {
  ProducerState state = ProducerState::kFree;
  BatchSeq seq{0};

  bool operator==(const ProducerWord&) const = default;
};

enum class GroupState : std::uint8_t { kPending = 1, kLeased = 2, kDone = 3 };

/// owner and generation are 0 unless leased; attempts is 0 when done.
struct GroupWord {
  GroupState state = GroupState::kDone;
  std::uint32_t attempts = 0;  // leases so far, 0 … kMaxCountedAttempts (saturated)
  ParticipantId owner{0};
  std::uint8_t generation = 0;  // low byte of the owner's generation
  BatchSeq seq{0};

  bool operator==(const GroupWord&) const = default;
};

constexpr std::uint64_t encode(ProducerWord word) {
  return static_cast<std::uint64_t>(word.state) << 61 | value_of(word.seq);
}

constexpr std::uint64_t encode(GroupWord word) {
  return static_cast<std::uint64_t>(word.state) << 61 |
         static_cast<std::uint64_t>(word.attempts & 31U) << 56 |
         static_cast<std::uint64_t>(index_of(word.owner) & 0xff) << 48 |
         static_cast<std::uint64_t>(word.generation) << kSeqBits | value_of(word.seq);
}

/// Never fails: bits that no process of this layout writes are judged by check_words().
constexpr ProducerWord decode_producer(std::uint64_t bits) {
  return {static_cast<ProducerState>(bits >> 61), BatchSeq{bits & kSeqMask}};
}

constexpr GroupWord decode_group(std::uint64_t bits) {
  return {static_cast<GroupState>(bits >> 61), static_cast<std::uint32_t>(bits >> 56 & 31U),
          ParticipantId{static_cast<std::uint32_t>(bits >> 48 & 0xff)},
          static_cast<std::uint8_t>(bits >> kSeqBits & 0xff), BatchSeq{bits & kSeqMask}};
}

constexpr ProducerWord free_word(BatchSeq seq) { return {ProducerState::kFree, seq}; }
constexpr ProducerWord filling_word(BatchSeq seq) { return {ProducerState::kFilling, seq}; }
constexpr ProducerWord ready_word(BatchSeq seq) { return {ProducerState::kReady, seq}; }
constexpr GroupWord pending_word(BatchSeq seq, std::uint32_t attempts) {
  return {GroupState::kPending, attempts, ParticipantId{0}, 0, seq};
}
constexpr GroupWord done_word(BatchSeq seq) { return {GroupState::kDone, 0, ParticipantId{0}, 0, seq}; }

constexpr std::uint32_t count_attempt(std::uint32_t attempts) {
  return std::min(attempts + 1, kMaxCountedAttempts);
}

}  // namespace tailrace
