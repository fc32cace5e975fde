#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "shm/batch_view.hpp"

namespace tailrace {

/// A tensor, or one row of it, as elements at strides.
struct StridedView {
  const std::byte* data = nullptr;  // element (0, …, 0)
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;  // in elements
  std::size_t element_bytes = 1;

  [[nodiscard]] std::uint64_t element_count() const;
  [[nodiscard]] std::uint64_t byte_count() const { return element_count() * element_bytes; }
};

/// The whole tensor. Throws std::runtime_error naming the tensor where sizes and strides do not belong
/// together, are negative, or reach beyond `tensor.bytes`.
StridedView strided_view_of(const TensorView& tensor);

/// Row `row` of a per-row tensor; precondition: row < sizes[0].
StridedView row_of(const StridedView& tensor, std::size_t row);

/// Takes a piece of bytes; false = wants no more. A piece holds whole elements.
using TakeBytes = std::function<bool(std::span<const std::byte>)>;

/// Hands out every element's bytes in logical (row-major) order, whatever the strides. Long contiguous runs
/// are handed out where they are; others are gathered into a small buffer first. False when `take` wanted no
/// more.
bool for_each_piece(const StridedView& view, const TakeBytes& take);

/// The same in the order in which the bytes lie in memory, where the elements lie without gaps; else in
/// logical order. Never gathers the former.
bool for_each_stored_piece(const StridedView& view, const TakeBytes& take);

}  // namespace tailrace
