#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "shm/batch_view.hpp"

namespace tailrace {

/// Header of a .npy file, byte for byte as numpy.save writes it (format 1.0, or 2.0 where the header does not
/// fit): row-major, padded to 64 bytes with room for a growing first dimension. `descr` as in
/// DtypeInfo::numpy_descr. https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
std::string npy_header(std::string_view descr, std::span<const std::int64_t> shape);

/// How a tensor's elements are stored.
struct NpyFormat {
  std::string_view descr;
  bool widen = false;  // bfloat16 to float32
};

/// Throws std::runtime_error naming the tensor for a dtype that .npy files cannot hold. `bf16_raw`: bfloat16
/// as uint16.
NpyFormat npy_format_of(const TensorView& tensor, bool bf16_raw);

}  // namespace tailrace
