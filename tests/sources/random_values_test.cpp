#include "producer/sources/random_values.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <set>
#include <vector>

namespace tailrace {
namespace {

template <typename T>
std::vector<T> values(Dtype dtype, std::size_t count, std::uint64_t seed = 1) {
  std::vector<T> result(count);
  fill_random(std::as_writable_bytes(std::span(result)), dtype, seed);
  return result;
}

// The float that an IEEE-like pattern stands for, by definition.
float widened(std::uint32_t bits, int exponent_bits, int mantissa_bits) {
  const std::uint32_t mantissa = bits & ((1U << mantissa_bits) - 1);
  const int exponent = static_cast<int>((bits >> mantissa_bits) & ((1U << exponent_bits) - 1));
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const float size =
      exponent == 0
          ? 0.0F
          : std::ldexp(1.0F + std::ldexp(static_cast<float>(mantissa), -mantissa_bits), exponent - bias);
  return (bits >> (exponent_bits + mantissa_bits)) != 0 ? -size : size;
}

TEST(RandomValues, OfFloatsAreNearlyNormal) {
  const std::vector<float> floats = values<float>(Dtype::kFloat32, 200'000);
  double sum = 0;
  double squares = 0;
  for (const float value : floats) {
    ASSERT_LE(std::fabs(value), 3.47F);
    sum += value;
    squares += double{value} * value;
  }
  EXPECT_NEAR(sum / 200'000, 0, 0.02);
  EXPECT_NEAR(squares / 200'000, 1, 0.02);
}

TEST(RandomValues, OfNarrowFloatsAreTheFloatsRoundedTowardsZero) {
  const std::vector<float> floats = values<float>(Dtype::kFloat32, 5000);
  const auto halves = values<std::uint16_t>(Dtype::kFloat16, 5000);
  const auto bfloats = values<std::uint16_t>(Dtype::kBfloat16, 5000);
  const auto e4m3 = values<std::uint8_t>(Dtype::kFloat8E4m3fn, 5000);
  const auto e5m2 = values<std::uint8_t>(Dtype::kFloat8E5m2, 5000);
  const auto is_floor = [](float narrow, float wide, float relative, float tiny) {
    return std::fabs(narrow) <= std::fabs(wide) &&
           std::fabs(wide) - std::fabs(narrow) <= std::max(std::fabs(wide) * relative, tiny) &&
           std::signbit(narrow) == std::signbit(wide);
  };
  for (std::size_t i = 0; i < floats.size(); ++i) {
    EXPECT_TRUE(is_floor(widened(halves[i], 5, 10), floats[i], 0x1p-10F, 0x1p-14F)) << floats[i];
    EXPECT_TRUE(is_floor(widened(bfloats[i], 8, 7), floats[i], 0x1p-7F, 0)) << floats[i];
    EXPECT_TRUE(is_floor(widened(e4m3[i], 4, 3), floats[i], 0x1p-3F, 0x1p-6F)) << floats[i];
    EXPECT_TRUE(is_floor(widened(e5m2[i], 5, 2), floats[i], 0x1p-2F, 0x1p-14F)) << floats[i];
  }
}

TEST(RandomValues, OfBoolsAreZeroOrOne) {
  std::size_t ones = 0;
  for (const std::uint8_t value : values<std::uint8_t>(Dtype::kBool, 10'000)) {
    ASSERT_LE(value, 1);
    ones += value;
  }
  EXPECT_NEAR(static_cast<double>(ones), 5000, 300);
}

TEST(RandomValues, OfBytesReachTheWholeRange) {
  const auto bytes = values<std::uint8_t>(Dtype::kUint8, 10'000);
  EXPECT_EQ(std::set<std::uint8_t>(bytes.begin(), bytes.end()).size(), 256U);
}

TEST(RandomValues, DependOnTheSeedAlone) {
  EXPECT_EQ(values<double>(Dtype::kComplex128, 64), values<double>(Dtype::kComplex128, 64));
  EXPECT_NE(values<std::int64_t>(Dtype::kInt64, 64, 1), values<std::int64_t>(Dtype::kInt64, 64, 2));
}

TEST(RandomValues, FillOddLengthsToTheLastByteAndNoFurther) {
  std::vector<std::uint8_t> bytes(16, 0xA5);
  fill_random(std::as_writable_bytes(std::span(bytes).first(11)), Dtype::kInt8, 5);
  const auto longer = values<std::uint8_t>(Dtype::kInt8, 16, 5);
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.begin() + 11, longer.begin()));
  for (std::size_t i = 11; i < bytes.size(); ++i) EXPECT_EQ(bytes[i], 0xA5);
}

}  // namespace
}  // namespace tailrace
