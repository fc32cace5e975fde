#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "shm/dtype.hpp"

namespace tailrace {

/// What is looked at to find the header: NumPy itself writes less than a hundredth of it.
inline constexpr std::size_t kMaxNpyHeaderBytes = std::size_t{1} << 16;
inline constexpr std::size_t kMaxNpyRank = 32;

/// The facts in front of an array in a .npy file, versions 1.0, 2.0 and 3.0
/// (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html).
struct NpyHeader {
  Dtype dtype = Dtype::kFloat32;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
  std::uint64_t data_offset = 0;  // bytes from the start of the file
  std::uint64_t data_bytes = 0;   // product of shape and element size
};

/// Parses the first kMaxNpyHeaderBytes of a file (all of it if it is shorter). Throws std::invalid_argument
/// that says what is wrong, without the file's name: not .npy, another version, a dtype that is not
/// supported, text that NumPy would not write, sizes that overflow.
NpyHeader parse_npy_header(std::span<const std::byte> start);

}  // namespace tailrace
