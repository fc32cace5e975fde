#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "shm/batch_view.hpp"

namespace tailrace {

// What a slot carries: a SlotHeader, the rows, the tensor directory, the names, then the tensors. Written by
// the producer before it publishes. docs/memory_layout.md shows it for people.

inline constexpr std::size_t kSlotHeaderBytes = 56;  // the least that a slot can have
inline constexpr std::uint32_t kMaxTensors = 64;
inline constexpr std::uint32_t kMaxRank = 32;
inline constexpr std::size_t kTensorAlignment = 4096;
inline constexpr std::size_t kMaxItemNameBytes = 4096;

/// When a batch passed which point; CLOCK_MONOTONIC, ns; 0 = it did not.
struct StageStamps {
  std::uint64_t claimed_ns = 0;  // slot taken and described, copy about to start
  std::uint64_t copied_ns = 0;   // its bytes are in the slot
  std::uint64_t published_ns = 0;
};

/// One tensor as it is to lie in a slot.
struct TensorPlan {
  std::string name;
  TensorShape shape;
  bool per_row = true;
  std::uint64_t bytes = 0;   // span from the first to the end of the last element
  std::uint64_t offset = 0;  // of element (0, …, 0) in the slot
};

/// Where everything goes in the slot of one batch.
struct SlotPlan {
  std::vector<TensorPlan> tensors;
  std::uint64_t total_bytes = 0;  // the slot needs this many
};

/// A batch does not fit: the message has the bytes needed and there.
class SlotTooSmall : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A descriptor that no producer of this layout writes: the message names the field.
class DamagedDescriptor : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Bytes that descriptor and tensors take. `tensors` come with everything but their offsets. Throws
/// std::invalid_argument for more than kMaxTensors, a rank above kMaxRank, sizes without strides, or names
/// beyond their limits, and std::overflow_error when the sum passes 2^63.
SlotPlan plan_slot(std::span<const Row> rows, std::vector<TensorPlan> tensors);

/// Upper bound of the bytes that any batch of these tensors takes with `row_count` rows whose names have at
/// most `max_name_bytes` bytes each.
std::uint64_t slot_bytes_needed(std::size_t row_count, std::size_t max_name_bytes,
                                std::vector<TensorPlan> tensors);

/// Writes everything but the tensors' bytes. Throws SlotTooSmall.
void write_descriptor(std::span<std::byte> slot, BatchNumber number, std::span<const Row> rows,
                      const SlotPlan& plan);

void write_stamps(std::span<std::byte> slot, const StageStamps& stamps) noexcept;
[[nodiscard]] StageStamps read_stamps(std::span<const std::byte> slot) noexcept;
/// Bytes from the beginning of the slot to the end of its batch; those of the whole slot where the descriptor
/// says nothing believable.
[[nodiscard]] std::uint64_t read_used_bytes(std::span<const std::byte> slot) noexcept;
[[nodiscard]] BatchNumber read_batch_number(std::span<const std::byte> slot) noexcept;

/// Reads a published slot: everything is copied out and range-checked first, the tensors' bytes are views
/// into `slot`. A tensor whose elements overlap, or an output_name that leads out of its folder, counts as
/// damage. Throws DamagedDescriptor.
BatchView read_descriptor(std::span<const std::byte> slot);

/// Bytes from the first to the end of the last element; 0 for no elements. Throws std::overflow_error, and
/// std::invalid_argument for a negative size or stride.
std::uint64_t span_bytes(const TensorShape& shape);

}  // namespace tailrace
