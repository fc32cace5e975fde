#pragma once

#include <bit>
#include <cstdint>

namespace tailrace {

/// Bit patterns of the floating-point types that C++20 lacks. `to_float` is exact for every value,
/// branch-free, and vectorises.
struct Bfloat16 {
  std::uint16_t bits;
};

struct Float16 {
  std::uint16_t bits;
};

constexpr float to_float(Bfloat16 value) { return std::bit_cast<float>(std::uint32_t{value.bits} << 16); }

constexpr float to_float(Float16 value) {
  const std::uint32_t sign = (std::uint32_t{value.bits} & 0x8000U) << 16;
  const std::uint32_t magnitude = (std::uint32_t{value.bits} & 0x7fffU) << 13;
  // Exponents of both types differ by 112; the product also normalises what is subnormal in float16.
  const auto scaled = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112F);
  const std::uint32_t special = magnitude >= 0x0f800000U ? 0x7f800000U : 0U;  // infinity and NaN
  return std::bit_cast<float>(sign | scaled | special);
}

}  // namespace tailrace
