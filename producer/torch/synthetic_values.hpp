#pragma once

#include <cstdint>

#include "shm/dtype.hpp"
#include "shm/ids.hpp"

namespace tailrace {

// What the model kind "synthetic" computes. Element `position` (row-major within the item) of row `row` of
// batch `batch` is
//     (7919 * batch + 613 * row + position) mod modulus(dtype)
// The modulus is the largest prime whose remainders `dtype` holds exactly (2 for bool, and below 2^24 for all
// wide types, so that one formula does for float32 and integers). Complex values have imaginary part 0. Being
// prime, it shifts neighbours in every direction to other values: a swapped row, a stale batch or a torn copy
// shows.

constexpr std::uint64_t synthetic_modulus(Dtype dtype) {
  switch (dtype) {
    case Dtype::kBool:
      return 2;
    case Dtype::kFloat8E5m2:
      return 7;
    case Dtype::kFloat8E4m3fn:
      return 13;
    case Dtype::kInt8:
      return 127;
    case Dtype::kUint8:
    case Dtype::kBfloat16:
      return 251;
    case Dtype::kFloat16:
      return 2039;
    case Dtype::kInt16:
      return 32749;
    case Dtype::kUint16:
      return 65521;
    case Dtype::kUint32:
    case Dtype::kInt32:
    case Dtype::kUint64:
    case Dtype::kInt64:
    case Dtype::kFloat32:
    case Dtype::kFloat64:
    case Dtype::kComplex64:
    case Dtype::kComplex128:
      break;
  }
  return 16'777'213;
}

inline constexpr std::uint64_t kSyntheticBatchStep = 7919;
inline constexpr std::uint64_t kSyntheticRowStep = 613;

constexpr std::uint64_t synthetic_value(Dtype dtype, BatchNumber batch, std::uint64_t row,
                                        std::uint64_t position) {
  const std::uint64_t modulus = synthetic_modulus(dtype);
  return (value_of(batch) % modulus * kSyntheticBatchStep + row % modulus * kSyntheticRowStep +
          position % modulus) %
         modulus;
}

}  // namespace tailrace
