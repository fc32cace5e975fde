#include "producer/sources/random_values.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tailrace {
namespace {

static_assert(std::endian::native == std::endian::little, "values are laid out as little-endian");

constexpr std::uint64_t kGoldenRatio = 0x9E3779B97F4A7C15;

// The finaliser of SplitMix64 (Steele, Lea, Flood 2014).
constexpr std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

class Hash {
 public:
  explicit Hash(std::uint64_t seed) : base_(mixed(seed + kGoldenRatio)) {}
  std::uint64_t operator()(std::uint64_t counter) const { return mixed(base_ + counter * kGoldenRatio); }

 private:
  std::uint64_t base_;
};

template <typename Float>
Float normal(std::uint64_t hash) {
  constexpr Float kMean = Float{2} * 65535;
  constexpr Float kInverseDeviation = Float(1 / 37837.22717901);  // sqrt(4 (65536² - 1) / 12)
  const std::uint64_t sum =
      (hash & 0xFFFF) + ((hash >> 16) & 0xFFFF) + ((hash >> 32) & 0xFFFF) + (hash >> 48);
  return (static_cast<Float>(static_cast<std::int32_t>(sum)) - kMean) * kInverseDeviation;
}

// IEEE-like float of 1 + kExponentBits + kMantissaBits bits. `value` must be within its range (|value| < 4).
template <typename Bits, int kExponentBits, int kMantissaBits>
Bits narrowed(float value) {
  const auto wide = std::bit_cast<std::uint32_t>(value);
  constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  const std::uint32_t sign = (wide >> 31) << (kExponentBits + kMantissaBits);
  const int exponent = static_cast<int>((wide >> 23) & 0xFF) - 127 + kBias;
  if (exponent <= 0) return static_cast<Bits>(sign);
  const std::uint32_t mantissa = (wide & 0x7FFFFF) >> (23 - kMantissaBits);
  return static_cast<Bits>(sign | (static_cast<std::uint32_t>(exponent) << kMantissaBits) | mantissa);
}

template <typename Element, typename Make>
void fill(std::span<std::byte> bytes, Make make) {
  const std::size_t count = bytes.size() / sizeof(Element);
  for (std::size_t k = 0; k < count; ++k) {
    const Element element = make(k);
    std::memcpy(bytes.data() + k * sizeof element, &element, sizeof element);
  }
}

void fill_bits(std::span<std::byte> bytes, const Hash& hash) {
  for (std::size_t at = 0, k = 0; at < bytes.size(); at += sizeof(std::uint64_t), ++k) {
    const std::uint64_t word = hash(k);
    std::memcpy(bytes.data() + at, &word, std::min(sizeof word, bytes.size() - at));
  }
}

}  // namespace

void fill_random(std::span<std::byte> bytes, Dtype dtype, std::uint64_t seed) {
  const Hash hash(seed);
  switch (dtype) {
    case Dtype::kBool:
      fill<std::uint8_t>(bytes, [&](std::size_t k) { return static_cast<std::uint8_t>(hash(k) >> 63); });
      return;
    case Dtype::kFloat32:
    case Dtype::kComplex64:
      fill<float>(bytes, [&](std::size_t k) { return normal<float>(hash(k)); });
      return;
    case Dtype::kFloat64:
    case Dtype::kComplex128:
      fill<double>(bytes, [&](std::size_t k) { return normal<double>(hash(k)); });
      return;
    case Dtype::kFloat16:
      fill<std::uint16_t>(
          bytes, [&](std::size_t k) { return narrowed<std::uint16_t, 5, 10>(normal<float>(hash(k))); });
      return;
    case Dtype::kBfloat16:
      fill<std::uint16_t>(
          bytes, [&](std::size_t k) { return narrowed<std::uint16_t, 8, 7>(normal<float>(hash(k))); });
      return;
    case Dtype::kFloat8E4m3fn:
      fill<std::uint8_t>(bytes,
                         [&](std::size_t k) { return narrowed<std::uint8_t, 4, 3>(normal<float>(hash(k))); });
      return;
    case Dtype::kFloat8E5m2:
      fill<std::uint8_t>(bytes,
                         [&](std::size_t k) { return narrowed<std::uint8_t, 5, 2>(normal<float>(hash(k))); });
      return;
    default:
      fill_bits(bytes, hash);
  }
}

}  // namespace tailrace
