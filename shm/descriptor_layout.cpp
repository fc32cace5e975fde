#include "shm/descriptor_layout.hpp"

#include <algorithm>
#include <stdexcept>

namespace tailrace {
namespace layout {

std::uint64_t add(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum) || sum > INT64_MAX)
    throw std::overflow_error("a batch of more than 2^63 bytes");
  return sum;
}

std::uint64_t multiply(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product) || product > INT64_MAX)
    throw std::overflow_error("a batch of more than 2^63 bytes");
  return product;
}

Parts parts_of(std::uint64_t row_count, std::uint64_t tensor_count, std::uint64_t names_bytes) {
  Parts parts{};
  parts.rows = sizeof(SlotHeader);
  parts.tensors = add(parts.rows, multiply(row_count, sizeof(RowRecord)));
  parts.names = add(parts.tensors, multiply(tensor_count, sizeof(TensorRecord)));
  parts.end = add(parts.names, names_bytes);
  return parts;
}

}  // namespace layout

std::uint64_t span_bytes(const TensorShape& shape) {
  if (shape.strides.size() != shape.sizes.size()) throw std::invalid_argument("a stride for each size");
  for (std::size_t d = 0; d < shape.rank(); ++d)
    if (shape.sizes[d] < 0 || shape.strides[d] < 0) throw std::invalid_argument("a negative size or stride");
  // Also where there are no elements: sinks count in strides, and these must not overflow.
  std::uint64_t last = 0;
  for (std::size_t d = 0; d < shape.rank(); ++d)
    last = layout::add(
        last, layout::multiply(static_cast<std::uint64_t>(std::max<std::int64_t>(shape.sizes[d], 1)) - 1,
                               static_cast<std::uint64_t>(shape.strides[d])));
  const std::uint64_t bytes = layout::multiply(layout::add(last, 1), info_of(shape.dtype).bytes);
  const bool empty = std::find(shape.sizes.begin(), shape.sizes.end(), 0) != shape.sizes.end();
  return empty ? 0 : bytes;
}

}  // namespace tailrace
