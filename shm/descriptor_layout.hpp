#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "shm/descriptor.hpp"

namespace tailrace::layout {

// The bytes of a slot's descriptor, for those who write and read them; docs/memory_layout.md shows them for
// people.

struct SlotHeader {
  std::uint64_t batch_number;
  std::uint32_t row_count;
  std::uint32_t tensor_count;
  std::uint64_t names_bytes;
  std::uint64_t used_bytes;  // of the slot, tensors included
  StageStamps stamps;
};
static_assert(sizeof(SlotHeader) == kSlotHeaderBytes && std::is_trivially_copyable_v<SlotHeader>);

/// A piece of the names: offset is counted from their beginning.
struct NameRef {
  std::uint64_t offset;
  std::uint64_t bytes;
};

struct RowRecord {
  std::uint64_t item;
  std::int32_t height;
  std::int32_t width;
  Rect source;
  Rect content;
  NameRef name;
  NameRef output_name;
  NameRef skip_reason;
};
static_assert(sizeof(RowRecord) == 96 && std::is_trivially_copyable_v<RowRecord>);

struct TensorRecord {
  std::uint64_t offset;
  std::uint64_t bytes;
  std::uint32_t dtype;
  std::uint32_t rank;
  std::uint32_t per_row;
  std::uint32_t reserved;
  NameRef name;
  std::array<std::int64_t, kMaxRank> sizes;
  std::array<std::int64_t, kMaxRank> strides;
};
static_assert(sizeof(TensorRecord) == 560 && std::is_trivially_copyable_v<TensorRecord>);

/// Where the parts of the descriptor start; they are as long as the counts say.
struct Parts {
  std::uint64_t rows;
  std::uint64_t tensors;
  std::uint64_t names;
  std::uint64_t end;
};

Parts parts_of(std::uint64_t row_count, std::uint64_t tensor_count, std::uint64_t names_bytes);

// Sums of bytes, which stay below 2^63. Throw std::overflow_error.
std::uint64_t add(std::uint64_t a, std::uint64_t b);
std::uint64_t multiply(std::uint64_t a, std::uint64_t b);

template <typename Record>
void put(std::span<std::byte> slot, std::uint64_t offset, const Record& record) {
  std::memcpy(slot.data() + offset, &record, sizeof record);
}

template <typename Record>
Record get(std::span<const std::byte> slot, std::uint64_t offset) {
  Record record;
  std::memcpy(&record, slot.data() + offset, sizeof record);
  return record;
}

}  // namespace tailrace::layout
