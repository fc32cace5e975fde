#include "consumer/sinks/strided_view.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>

#include "os/io_error.hpp"

namespace tailrace {
namespace {

constexpr std::size_t kGatherBytes = 65'536;
constexpr std::size_t kTransposeBytes = 16'777'216;
constexpr std::int64_t kBlockElements = 64;
constexpr std::size_t kMinimumRunBytes = 4096;  // shorter runs are gathered: one call per run would cost more

/// Sizes and strides with as few dimensions as possible: no 1s, neighbours merged where they are one run.
/// Never empty.
struct Dimensions {
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;
};

Dimensions merged(const StridedView& view) {
  Dimensions result;
  for (std::size_t i = 0; i < view.sizes.size(); ++i) {
    if (view.sizes[i] == 1) continue;
    if (!result.sizes.empty() && result.strides.back() == view.sizes[i] * view.strides[i]) {
      result.sizes.back() *= view.sizes[i];
      result.strides.back() = view.strides[i];
    } else {
      result.sizes.push_back(view.sizes[i]);
      result.strides.push_back(view.strides[i]);
    }
  }
  if (result.sizes.empty()) return {{1}, {1}};
  return result;
}

/// Calls `visit(offset)` (elements) for each position in all dimensions but the last, in logical order, until
/// it returns false.
template <typename Visit>
bool for_each_line(const Dimensions& dimensions, Visit visit) {
  const std::size_t outer = dimensions.sizes.size() - 1;
  std::vector<std::int64_t> position(outer, 0);
  std::int64_t offset = 0;
  for (;;) {
    if (!visit(offset)) return false;
    std::size_t i = outer;
    for (; i > 0; --i) {
      offset += dimensions.strides[i - 1];
      if (++position[i - 1] < dimensions.sizes[i - 1]) break;
      offset -= dimensions.strides[i - 1] * dimensions.sizes[i - 1];
      position[i - 1] = 0;
    }
    if (i == 0) return true;
  }
}

template <std::size_t kBytes>
void gather_elements(std::byte* to, const std::byte* from, std::int64_t stride, std::size_t count) {
  const std::int64_t step = stride * static_cast<std::int64_t>(kBytes);
  for (std::size_t i = 0; i < count; ++i)
    std::memcpy(to + i * kBytes, from + static_cast<std::int64_t>(i) * step, kBytes);
}

void gather(std::byte* to, const std::byte* from, std::int64_t stride, std::size_t count, std::size_t bytes) {
  if (stride == 1) {
    std::memcpy(to, from, count * bytes);
    return;
  }
  switch (bytes) {
    case 1:
      return gather_elements<1>(to, from, stride, count);
    case 2:
      return gather_elements<2>(to, from, stride, count);
    case 4:
      return gather_elements<4>(to, from, stride, count);
    case 8:
      return gather_elements<8>(to, from, stride, count);
    default:
      return gather_elements<16>(to, from, stride, count);
  }
}

/// Collects lines in a buffer of fixed size and hands it on whenever it is full.
class Gatherer {
 public:
  Gatherer(const StridedView& view, const TakeBytes& take) : element_bytes_(view.element_bytes), take_(take) {
    buffer_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kGatherBytes, view.byte_count())));
  }

  bool add(const std::byte* line, std::int64_t stride, std::size_t count) {
    while (count > 0) {
      const std::size_t here = std::min(count, (buffer_.size() - used_) / element_bytes_);
      gather(buffer_.data() + used_, line, stride, here, element_bytes_);
      used_ += here * element_bytes_;
      count -= here;
      line += static_cast<std::int64_t>(here) * stride * static_cast<std::int64_t>(element_bytes_);
      if (used_ == buffer_.size() && !flush()) return false;
    }
    return true;
  }

  bool flush() {
    const bool wants_more = used_ == 0 || take_({buffer_.data(), used_});
    used_ = 0;
    return wants_more;
  }

 private:
  std::size_t element_bytes_;
  const TakeBytes& take_;
  std::vector<std::byte> buffer_;
  std::size_t used_ = 0;
};

/// The last two dimensions lie the other way round in memory (channels_last, say). Read in logical order,
/// each cache line would be fetched once for every element in it.
bool is_transposed(const Dimensions& dimensions, std::size_t element_bytes) {
  const std::size_t rank = dimensions.sizes.size();
  if (rank < 2) return false;
  const std::int64_t outer_stride = dimensions.strides[rank - 2];
  const std::size_t line_bytes = static_cast<std::size_t>(dimensions.sizes.back()) * element_bytes;
  return outer_stride > 0 && outer_stride < dimensions.strides.back() && line_bytes <= kTransposeBytes / 2;
}

/// Turns as many lines at once as the buffer holds, block by block, so that cache lines are used while they
/// are there.
bool for_each_transposed_piece(const StridedView& view, const Dimensions& dimensions, const TakeBytes& take) {
  const auto bytes = static_cast<std::int64_t>(view.element_bytes);
  const std::int64_t length = dimensions.sizes.back();
  const std::int64_t stride = dimensions.strides.back();
  const Dimensions lines{{dimensions.sizes.begin(), dimensions.sizes.end() - 1},
                         {dimensions.strides.begin(), dimensions.strides.end() - 1}};
  const std::int64_t line_count = lines.sizes.back();
  const std::int64_t line_stride = lines.strides.back();
  const std::int64_t group =
      std::min(line_count, static_cast<std::int64_t>(kTransposeBytes) / (length * bytes));
  std::vector<std::byte> buffer(static_cast<std::size_t>(group * length * bytes));

  return for_each_line(lines, [&](std::int64_t offset) {
    for (std::int64_t first = 0; first < line_count; first += group) {
      const std::int64_t here = std::min(group, line_count - first);
      for (std::int64_t begin = 0; begin < length; begin += kBlockElements)
        for (std::int64_t line = 0; line < here; ++line)
          gather(buffer.data() + (line * length + begin) * bytes,
                 view.data + (offset + (first + line) * line_stride + begin * stride) * bytes, stride,
                 static_cast<std::size_t>(std::min(kBlockElements, length - begin)), view.element_bytes);
      if (!take({buffer.data(), static_cast<std::size_t>(here * length * bytes)})) return false;
    }
    return true;
  });
}

[[noreturn]] void refuse(const TensorView& tensor, const std::string& fault) {
  throw std::runtime_error("tensor " + in_quotes(tensor.name) + ": " + fault);
}

/// Elements from the first to the last in memory; empty where a product overflows. Sizes and strides are not
/// negative.
std::optional<std::uint64_t> span_of(const TensorShape& shape) {
  std::int64_t last = 0;
  std::int64_t count = 1;  // an expanded tensor has more elements than its span
  bool overflow = false;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    overflow |= __builtin_mul_overflow(count, shape.sizes[i], &count);
    std::int64_t reach = 0;
    overflow |=
        __builtin_mul_overflow(std::max<std::int64_t>(shape.sizes[i] - 1, 0), shape.strides[i], &reach);
    overflow |= __builtin_add_overflow(last, reach, &last);
  }
  std::int64_t bytes = 0;
  overflow |= __builtin_mul_overflow(count, static_cast<std::int64_t>(info_of(shape.dtype).bytes), &bytes);
  if (overflow) return std::nullopt;
  return count == 0 ? 0 : static_cast<std::uint64_t>(last) + 1;
}

/// Nobody has checked a stride that is never walked: with fewer than two indices it may be anything.
std::vector<std::int64_t> meaningful(const std::vector<std::int64_t>& sizes,
                                     std::vector<std::int64_t> strides) {
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] < 2) strides[i] = 0;
  return strides;
}

/// Each element has bytes of its own, and together they leave no gap.
bool is_dense(const StridedView& view) {
  std::vector<std::size_t> order;
  for (std::size_t d = 0; d < view.sizes.size(); ++d)
    if (view.sizes[d] > 1) order.push_back(d);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return view.strides[a] < view.strides[b]; });
  std::int64_t dense_stride = 1;
  for (const std::size_t d : order) {
    if (view.strides[d] != dense_stride) return false;
    dense_stride *= view.sizes[d];
  }
  return true;
}

}  // namespace

std::uint64_t StridedView::element_count() const {
  std::uint64_t count = 1;
  for (const std::int64_t size : sizes) count *= static_cast<std::uint64_t>(size);
  return count;
}

StridedView strided_view_of(const TensorView& tensor) {
  const auto& [dtype, sizes, strides] = tensor.shape;
  if (sizes.size() != strides.size())
    refuse(tensor,
           std::to_string(sizes.size()) + " sizes, but " + std::to_string(strides.size()) + " strides");
  const std::size_t element_bytes = info_of(dtype).bytes;
  if (std::any_of(sizes.begin(), sizes.end(), [](std::int64_t size) { return size < 0; }) ||
      std::any_of(strides.begin(), strides.end(), [](std::int64_t stride) { return stride < 0; }))
    refuse(tensor, "a size or stride is negative");
  const std::optional<std::uint64_t> span = span_of(tensor.shape);
  if (!span || *span > tensor.bytes.size() / element_bytes)
    refuse(tensor,
           "its sizes and strides reach beyond its " + std::to_string(tensor.bytes.size()) + " bytes");
  return {tensor.bytes.data(), sizes, meaningful(sizes, strides), element_bytes};
}

StridedView row_of(const StridedView& tensor, std::size_t row) {
  const std::int64_t offset = static_cast<std::int64_t>(row) * tensor.strides[0];
  return {tensor.data + offset * static_cast<std::int64_t>(tensor.element_bytes),
          {tensor.sizes.begin() + 1, tensor.sizes.end()},
          {tensor.strides.begin() + 1, tensor.strides.end()},
          tensor.element_bytes};
}

bool for_each_piece(const StridedView& view, const TakeBytes& take) {
  if (view.element_count() == 0) return true;
  const Dimensions dimensions = merged(view);
  const std::size_t count = static_cast<std::size_t>(dimensions.sizes.back());
  const std::int64_t stride = dimensions.strides.back();
  const auto line = [&](std::int64_t offset) {
    return view.data + offset * static_cast<std::int64_t>(view.element_bytes);
  };
  const std::size_t run_bytes = count * view.element_bytes;
  if (stride == 1 && (run_bytes >= kMinimumRunBytes || dimensions.sizes.size() == 1))
    return for_each_line(dimensions, [&](std::int64_t offset) { return take({line(offset), run_bytes}); });
  if (is_transposed(dimensions, view.element_bytes)) return for_each_transposed_piece(view, dimensions, take);
  Gatherer gatherer(view, take);
  return for_each_line(dimensions,
                       [&](std::int64_t offset) { return gatherer.add(line(offset), stride, count); }) &&
         gatherer.flush();
}

bool for_each_stored_piece(const StridedView& view, const TakeBytes& take) {
  if (view.element_count() == 0 || !is_dense(view)) return for_each_piece(view, take);
  return take({view.data, view.byte_count()});
}

}  // namespace tailrace
