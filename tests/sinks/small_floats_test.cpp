#include "consumer/sinks/small_floats.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tailrace {
namespace {

/// By the definition of IEEE 754 binary16.
double float16_value(std::uint32_t bits) {
  const double sign = (bits & 0x8000U) != 0 ? -1 : 1;
  const int exponent = static_cast<int>(bits >> 10 & 31U);
  const double fraction = bits & 0x3ffU;
  if (exponent == 31) return fraction != 0 ? std::nan("") : sign * std::numeric_limits<double>::infinity();
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25));
}

TEST(SmallFloats, EveryFloat16IsExact) {
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const float value = to_float(Float16{static_cast<std::uint16_t>(bits)});
    const double expected = float16_value(bits);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(value)) << bits;
    } else {
      ASSERT_EQ(value, expected) << bits;
      ASSERT_EQ(std::signbit(value), std::signbit(expected)) << bits;
    }
  }
}

TEST(SmallFloats, Bfloat16IsTheUpperHalfOfAFloat) {
  for (const float value : {0.0F, -0.0F, 1.0F, -1.5F, 0x1p-133F, std::numeric_limits<float>::infinity()}) {
    const auto bits = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
    EXPECT_EQ(to_float(Bfloat16{bits}), value);
  }
  EXPECT_TRUE(std::isnan(to_float(Bfloat16{0x7fc1})));
}

}  // namespace
}  // namespace tailrace
