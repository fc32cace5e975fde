#include "consumer/sinks/class_mask.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "consumer/sinks/small_floats.hpp"
#include "os/io_error.hpp"

namespace tailrace {
namespace {

constexpr std::int64_t kMaxClasses = 256;
// A tile's running maxima and indexes stay in the first-level cache while the planes stream by.
constexpr std::int64_t kTilePixels = 2048;

template <typename T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <typename T>
auto comparable(T value) {
  if constexpr (std::is_arithmetic_v<T>)
    return value;
  else
    return to_float(value);
}

/// An unsigned integer as wide as the compared values: so that both fill the same vector lanes.
template <std::size_t kBytes>
using IndexOfWidth =
    std::conditional_t<kBytes == 1, std::uint8_t,
                       std::conditional_t<kBytes == 2, std::uint16_t,
                                          std::conditional_t<kBytes == 4, std::uint32_t, std::uint64_t>>>;

/// Class scores of a line of pixels; strides in bytes.
struct ScoreLine {
  const std::byte* first;
  std::int64_t class_stride;
  std::int64_t pixel_stride;
  std::int64_t classes;
};

template <typename T>
struct LowestScore {
  using Value = decltype(comparable(T{}));
  static constexpr Value get() {
    if constexpr (std::is_floating_point_v<Value>)
      return -std::numeric_limits<Value>::infinity();
    else
      return std::numeric_limits<Value>::lowest();
  }
};

/// For a pixel without any score above minus infinity: the first class that is not NaN.
template <typename T>
std::uint8_t first_number(const ScoreLine& line, std::int64_t pixel) {
  for (std::int64_t c = 0; c < line.classes; ++c) {
    const auto value = comparable(load<T>(line.first + c * line.class_stride + pixel * line.pixel_stride));
    if (!std::isnan(value)) return static_cast<std::uint8_t>(c);
  }
  return 0;
}

template <typename T, bool kDense>
void argmax_tile(const ScoreLine& line, std::int64_t count, std::uint8_t* classes) {
  using Value = typename LowestScore<T>::Value;
  using Index = IndexOfWidth<sizeof(Value)>;
  alignas(64) std::array<Value, kTilePixels> best;
  alignas(64) std::array<Index, kTilePixels> index{};
  std::fill_n(best.begin(), count, LowestScore<T>::get());
  for (std::int64_t c = 0; c < line.classes; ++c) {
    const std::byte* plane = line.first + c * line.class_stride;
    const std::int64_t stride = kDense ? static_cast<std::int64_t>(sizeof(T)) : line.pixel_stride;
    for (std::int64_t p = 0; p < count; ++p) {
      const Value value = comparable(load<T>(plane + p * stride));
      // Both are always stored, and selected by a mask: a branch here would keep compilers from vectorising.
      const Value former = best[p];
      const auto above = static_cast<Index>(-static_cast<Index>(value > former));
      best[p] = value > former ? value : former;
      index[p] = static_cast<Index>((index[p] & ~above) | (static_cast<Index>(c) & above));
    }
  }
  for (std::int64_t p = 0; p < count; ++p) classes[p] = static_cast<std::uint8_t>(index[p]);
  if constexpr (std::is_floating_point_v<Value>)
    for (std::int64_t p = 0; p < count; ++p)
      if (best[p] == LowestScore<T>::get()) classes[p] = first_number<T>(line, p);
}

template <typename T>
void argmax_line(ScoreLine line, std::int64_t count, std::uint8_t* classes) {
  const bool dense = line.pixel_stride == static_cast<std::int64_t>(sizeof(T));
  // Scores that lie together for each pixel (channels_last): a smaller tile, which is read `classes` times.
  const std::int64_t tile = dense ? kTilePixels : kTilePixels / 16;
  while (count > 0) {
    const std::int64_t here = std::min(count, tile);
    dense ? argmax_tile<T, true>(line, here, classes) : argmax_tile<T, false>(line, here, classes);
    line.first += here * line.pixel_stride;
    classes += here;
    count -= here;
  }
}

template <typename T>
void copy_classes(const std::byte* first, std::int64_t pixel_stride, std::int64_t count,
                  std::uint8_t* classes) {
  using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
  bool all_fit = true;
  for (std::int64_t p = 0; p < count; ++p) {
    const T value = load<T>(first + p * pixel_stride);
    all_fit &= static_cast<std::uint64_t>(static_cast<Wide>(value)) < kMaxClasses;
    classes[p] = static_cast<std::uint8_t>(value);
  }
  if (all_fit) return;
  for (std::int64_t p = 0;; ++p) {
    const T value = load<T>(first + p * pixel_stride);
    if (static_cast<std::uint64_t>(static_cast<Wide>(value)) >= kMaxClasses)
      throw std::runtime_error("class " + std::to_string(value) +
                               " is outside 0 … 255, which an 8-bit mask can hold");
  }
}

/// The dimensions of one row's pixels; strides in bytes.
struct Pixels {
  const std::byte* first;
  std::int64_t height, width;
  std::int64_t row_stride, pixel_stride;
};

/// Calls `read(first, count, to)` for lines of pixels: once where all pixels are one line.
template <typename Read>
void for_each_pixel_line(const Pixels& pixels, std::uint8_t* to, Read read) {
  if (pixels.row_stride == pixels.width * pixels.pixel_stride) {
    read(pixels.first, pixels.height * pixels.width, to);
    return;
  }
  for (std::int64_t y = 0; y < pixels.height; ++y)
    read(pixels.first + y * pixels.row_stride, pixels.width, to + y * pixels.width);
}

/// Calls `use` with a value of the C++ type of `dtype`; false where there is none.
template <typename Use>
bool with_integer(Dtype dtype, Use use) {
  switch (dtype) {
    case Dtype::kBool:
    case Dtype::kUint8:
      return use(std::uint8_t{}), true;
    case Dtype::kInt8:
      return use(std::int8_t{}), true;
    case Dtype::kUint16:
      return use(std::uint16_t{}), true;
    case Dtype::kInt16:
      return use(std::int16_t{}), true;
    case Dtype::kUint32:
      return use(std::uint32_t{}), true;
    case Dtype::kInt32:
      return use(std::int32_t{}), true;
    case Dtype::kUint64:
      return use(std::uint64_t{}), true;
    case Dtype::kInt64:
      return use(std::int64_t{}), true;
    default:
      return false;
  }
}

template <typename Use>
bool with_number(Dtype dtype, Use use) {
  switch (dtype) {
    case Dtype::kFloat16:
      return use(Float16{}), true;
    case Dtype::kBfloat16:
      return use(Bfloat16{}), true;
    case Dtype::kFloat32:
      return use(float{}), true;
    case Dtype::kFloat64:
      return use(double{}), true;
    default:
      return with_integer(dtype, use);
  }
}

[[noreturn]] void refuse(const TensorView& tensor, const std::string& wanted) {
  throw std::runtime_error("tensor " + in_quotes(tensor.name) + " is " + describe(tensor.shape) +
                           "; png_mask wants " + wanted);
}

constexpr const char* kWanted =
    "[rows, 2 to 256 classes, height, width] of a real dtype, or [rows, height, width] of an integer dtype";

bool is_integer(Dtype dtype) {
  return with_integer(dtype, [](auto) {});
}

bool holds_scores(const TensorShape& shape) {
  return shape.rank() == 4 && !(shape.sizes[1] == 1 && is_integer(shape.dtype));
}

}  // namespace

void require_class_scores(const TensorView& tensor) {
  const TensorShape& shape = tensor.shape;
  if (!tensor.per_row || shape.rank() < 3 || shape.rank() > 4) refuse(tensor, kWanted);
  const bool scores = holds_scores(shape);
  if (scores && (shape.sizes[1] < 2 || shape.sizes[1] > kMaxClasses)) refuse(tensor, kWanted);
  if (scores ? !with_number(shape.dtype, [](auto) {}) : !is_integer(shape.dtype)) refuse(tensor, kWanted);
}

void read_class_mask(const SelectedTensor& tensor, std::size_t row, Mask& mask) {
  const TensorShape& shape = tensor.tensor->shape;
  require_class_scores(*tensor.tensor);
  const bool has_classes = holds_scores(shape);
  const StridedView view = tensor.row(row);
  const std::size_t y = view.sizes.size() - 2;
  const std::size_t x = y + 1;
  const auto bytes = static_cast<std::int64_t>(view.element_bytes);
  const Pixels pixels{view.data, view.sizes[y], view.sizes[x], view.strides[y] * bytes,
                      view.strides[x] * bytes};
  if (pixels.height < 1 || pixels.width < 1 || pixels.height > INT32_MAX || pixels.width > INT32_MAX)
    refuse(*tensor.tensor, "a height and width of at least 1");
  mask.height = static_cast<std::int32_t>(pixels.height);
  mask.width = static_cast<std::int32_t>(pixels.width);
  mask.classes.resize(static_cast<std::size_t>(pixels.height * pixels.width));

  const auto read = [&](auto element, const std::byte* first, std::int64_t count, std::uint8_t* to) {
    using T = decltype(element);
    if (has_classes) {
      argmax_line<T>({first, view.strides[0] * bytes, pixels.pixel_stride, view.sizes[0]}, count, to);
    } else if constexpr (std::is_integral_v<T>) {
      copy_classes<T>(first, pixels.pixel_stride, count, to);
    }
  };
  const auto read_lines = [&](auto element) {
    for_each_pixel_line(pixels, mask.classes.data(),
                        [&](const std::byte* first, std::int64_t count, std::uint8_t* to) {
                          read(element, first, count, to);
                        });
  };
  // require_class_scores has seen that there is such a type.
  (void)(has_classes ? with_number(shape.dtype, read_lines) : with_integer(shape.dtype, read_lines));
}

}  // namespace tailrace
