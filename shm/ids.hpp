#pragma once

#include <cstddef>
#include <cstdint>

namespace tailrace {

// Strong types for what would otherwise all be integers. Compare them with the built-in operators.

/// Index of a slot (output buffer) in the ring, 0 … slot_count-1.
enum class SlotId : std::uint32_t {};

/// Index of a consumer group in the ring's group table, 0 … group_count-1.
enum class GroupId : std::uint32_t {};

/// Publication number of a slot's content: 1, 2, 3 … within one ring, 40 bits; 0 = "before the first".
enum class BatchSeq : std::uint64_t {};

/// Index of a batch in its source: 0, 1, 2 …; the same batch keeps it across restarts and rings.
enum class BatchNumber : std::uint64_t {};

/// Index of an entry in the participant table; entry 0 is the producer's.
enum class ParticipantId : std::uint32_t {};

inline constexpr ParticipantId kProducerId{0};

constexpr std::size_t index_of(SlotId id) { return static_cast<std::size_t>(id); }
constexpr std::size_t index_of(GroupId id) { return static_cast<std::size_t>(id); }
constexpr std::size_t index_of(ParticipantId id) { return static_cast<std::size_t>(id); }
constexpr std::uint64_t value_of(BatchSeq seq) { return static_cast<std::uint64_t>(seq); }
constexpr std::uint64_t value_of(BatchNumber number) { return static_cast<std::uint64_t>(number); }
constexpr BatchSeq next(BatchSeq seq) { return BatchSeq{value_of(seq) + 1}; }
constexpr BatchNumber next(BatchNumber number) { return BatchNumber{value_of(number) + 1}; }

}  // namespace tailrace
