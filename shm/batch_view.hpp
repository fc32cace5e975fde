#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "shm/dtype.hpp"
#include "shm/ids.hpp"

namespace tailrace {

/// A rectangle in pixels; (0, 0) is the top left corner.
struct Rect {
  std::int32_t top = 0;
  std::int32_t left = 0;
  std::int32_t height = 0;
  std::int32_t width = 0;

  bool operator==(const Rect&) const = default;
};

/// Why an item is skipped, roughly: for counting. Names in kCounterNames.
enum class SkipKind : std::uint8_t {
  kUnreadable,   // its file is gone, forbidden, no regular file, or changed
  kUndecodable,  // what is read is damaged, truncated, or in another format
  kTooLarge,
};

/// What is known of one row (item) of a batch. Empty `skip_reason` = the row is valid; a skipped row keeps
/// its place in the batch, its tensor values mean nothing.
struct Row {
  std::uint64_t item = 0;   // index in the source's item list, counted from 0
  std::string name;         // source-relative ("a/b.jpg"; "x.npy:17" for a row of an array)
  std::string output_name;  // source-relative, without suffix, unique in the whole item list; safe as a path
  std::int32_t height = 0;  // of the original image (after EXIF orientation), pixels; 0 = not an image
  std::int32_t width = 0;
  Rect source;   // part of the original image that was shown to the model
  Rect content;  // where that part lies in the model's input
  std::string skip_reason;
  SkipKind skip_kind = SkipKind::kUndecodable;  // of a skipped row; the producer's own, not in the descriptor

  [[nodiscard]] bool valid() const { return skip_reason.empty(); }
};

/// Dtype, sizes and strides (both in elements) of one tensor. Any stride order; non-overlapping and dense
/// within its span of bytes, or contiguous.
struct TensorShape {
  Dtype dtype = Dtype::kFloat32;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;

  [[nodiscard]] std::size_t rank() const { return sizes.size(); }
};

/// One output of the model for the batch. `bytes` starts at element (0, …, 0) and holds every element.
struct TensorView {
  std::string name;
  TensorShape shape;
  bool per_row = true;  // sizes[0] counts the batch's rows; false: one value for the whole batch
  std::span<const std::byte> bytes;
};

/// A batch as a consumer sees it: copies of the (range-checked) descriptor, and views of the tensors' bytes,
/// which stay valid as long as the lease (or the memory given by an `inline` producer) does. sizes[0] of a
/// per-row tensor equals rows.size().
struct BatchView {
  BatchNumber number{0};
  std::vector<Row> rows;
  std::vector<TensorView> tensors;
};

}  // namespace tailrace
