#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "consumer/sinks/class_mask.hpp"
#include "os/io_error.hpp"

namespace tailrace {
namespace {

constexpr std::int64_t kMaxPixels = std::int64_t{1} << 31;

bool lies_inside(const Rect& rect, std::int32_t height, std::int32_t width) {
  return rect.top >= 0 && rect.left >= 0 && rect.height > 0 && rect.width > 0 &&
         rect.top <= height - rect.height && rect.left <= width - rect.width;
}

/// For each of `source` pixels the index of the mask's pixel whose area holds its centre, along one axis.
/// `content` begins at `content_begin` of `input` pixels; the mask has `mask` pixels for the same extent.
std::vector<std::int32_t> nearest(std::int32_t source, std::int32_t content_begin, std::int32_t content,
                                  std::int32_t input, std::int32_t mask) {
  std::vector<std::int32_t> indexes(static_cast<std::size_t>(source));
  for (std::int32_t i = 0; i < source; ++i) {
    const double in_input = content_begin + (i + 0.5) * content / source;
    indexes[static_cast<std::size_t>(i)] =
        std::clamp(static_cast<std::int32_t>(std::floor(in_input * mask / input)), 0, mask - 1);
  }
  return indexes;
}

}  // namespace

Mask to_original_size(const Mask& mask, const Row& row, std::int32_t input_height, std::int32_t input_width) {
  if (!lies_inside(row.source, row.height, row.width) ||
      !lies_inside(row.content, input_height, input_width) ||
      std::int64_t{row.height} * row.width > kMaxPixels)
    throw std::runtime_error("item " + std::to_string(row.item) + " (" + in_quotes(row.name) +
                             "): its rectangles do not lie inside a " + std::to_string(row.height) + " x " +
                             std::to_string(row.width) + " image and a " + std::to_string(input_height) +
                             " x " + std::to_string(input_width) + " model input");
  const auto ys = nearest(row.source.height, row.content.top, row.content.height, input_height, mask.height);
  const auto xs = nearest(row.source.width, row.content.left, row.content.width, input_width, mask.width);
  Mask original{row.height, row.width, {}};
  original.classes.assign(static_cast<std::size_t>(row.height) * static_cast<std::size_t>(row.width),
                          kIgnoredClass);
  std::uint8_t* to =
      original.classes.data() + static_cast<std::ptrdiff_t>(row.source.top) * row.width + row.source.left;
  for (const std::int32_t y : ys) {
    const std::uint8_t* from = mask.classes.data() + static_cast<std::ptrdiff_t>(y) * mask.width;
    for (std::size_t i = 0; i < xs.size(); ++i) to[i] = from[xs[i]];
    to += row.width;
  }
  return original;
}

}  // namespace tailrace
