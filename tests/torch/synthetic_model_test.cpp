#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <functional>
#include <map>

#include "producer/torch/synthetic_values.hpp"
#include "tests/torch/model_testing.hpp"

namespace tailrace {
namespace {

/// A small float of `exponent_bits` and `mantissa_bits`; only normal numbers and zero occur here.
double decode_float(std::uint32_t bits, int exponent_bits, int mantissa_bits) {
  const int exponent = static_cast<int>(bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
  const int mantissa = static_cast<int>(bits) & ((1 << mantissa_bits) - 1);
  if (exponent == 0) return mantissa == 0 ? 0.0 : NAN;
  return std::ldexp(1.0 + std::ldexp(mantissa, -mantissa_bits), exponent - ((1 << (exponent_bits - 1)) - 1));
}

template <typename Value>
std::vector<double> as_doubles(const OutputTensor& output) {
  std::vector<double> values;
  for (const Value value : raw_values<Value>(output)) values.push_back(static_cast<double>(value));
  return values;
}

template <typename Bits>
std::vector<double> as_small_floats(const OutputTensor& output, int exponent_bits, int mantissa_bits) {
  std::vector<double> values;
  for (const Bits bits : raw_values<Bits>(output))
    values.push_back(decode_float(bits, exponent_bits, mantissa_bits));
  return values;
}

template <typename Part>
std::vector<double> as_real_parts(const OutputTensor& output) {
  std::vector<double> values;
  for (const auto& value : raw_values<std::complex<Part>>(output))
    values.push_back(value.imag() == 0 ? value.real() : NAN);
  return values;
}

std::vector<double> decoded(const OutputTensor& output) {
  switch (output.shape.dtype) {
    case Dtype::kBool:
    case Dtype::kUint8:
      return as_doubles<std::uint8_t>(output);
    case Dtype::kInt8:
      return as_doubles<std::int8_t>(output);
    case Dtype::kUint16:
      return as_doubles<std::uint16_t>(output);
    case Dtype::kInt16:
      return as_doubles<std::int16_t>(output);
    case Dtype::kUint32:
      return as_doubles<std::uint32_t>(output);
    case Dtype::kInt32:
      return as_doubles<std::int32_t>(output);
    case Dtype::kUint64:
      return as_doubles<std::uint64_t>(output);
    case Dtype::kInt64:
      return as_doubles<std::int64_t>(output);
    case Dtype::kFloat16:
      return as_small_floats<std::uint16_t>(output, 5, 10);
    case Dtype::kBfloat16:
      return as_small_floats<std::uint16_t>(output, 8, 7);
    case Dtype::kFloat32:
      return as_doubles<float>(output);
    case Dtype::kFloat64:
      return as_doubles<double>(output);
    case Dtype::kComplex64:
      return as_real_parts<float>(output);
    case Dtype::kComplex128:
      return as_real_parts<double>(output);
    case Dtype::kFloat8E4m3fn:
      return as_small_floats<std::uint8_t>(output, 4, 3);
    case Dtype::kFloat8E5m2:
      return as_small_floats<std::uint8_t>(output, 5, 2);
  }
  return {};
}

class SyntheticModel : public testing::TestWithParam<DtypeInfo> {
 protected:
  void load(Dtype dtype, std::vector<std::int64_t> shape) {
    bench_.config.kind = ModelKind::kSynthetic;
    bench_.config.dtype = dtype;
    bench_.config.shape = std::move(shape);
    bench_.source.batch_size = 4;
    bench_.set_input(Dtype::kFloat32, {1});
    bench_.load();
  }

  ModelBench bench_;
};

TEST_P(SyntheticModel, EveryElementFollowsFromBatchRowAndPosition) {
  const Dtype dtype = GetParam().dtype;
  load(dtype, {3, 89});
  const std::uint64_t number = 5'000'000'019;
  const auto outputs = bench_.run(number, 3);
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_EQ(outputs[0].shape.dtype, dtype);
  EXPECT_EQ(outputs[0].shape.sizes, (std::vector<std::int64_t>{3, 3, 89}));
  const std::vector<double> values = decoded(outputs[0]);
  ASSERT_EQ(values.size(), 3U * 267U);
  for (std::uint64_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(values[i], static_cast<double>(synthetic_value(dtype, BatchNumber{number}, i / 267, i % 267)))
        << "row " << i / 267 << ", position " << i % 267;
}

INSTANTIATE_TEST_SUITE_P(AllDtypes, SyntheticModel, testing::ValuesIn(kDtypes),
                         [](const auto& tested) { return std::string(tested.param.name); });

using SyntheticShape = SyntheticModel;

TEST_F(SyntheticShape, AnItemMayBeAScalar) {
  load(Dtype::kFloat32, {});
  const auto outputs = bench_.run(0, 4);
  EXPECT_EQ(outputs[0].shape.sizes, (std::vector<std::int64_t>{4}));
  EXPECT_EQ(raw_values<float>(outputs[0]), (std::vector<float>{0, 613, 1226, 1839}));
}

TEST_F(SyntheticShape, AnItemMayBeEmpty) {
  load(Dtype::kFloat32, {0, 5});
  const auto outputs = bench_.run(0, 2);
  EXPECT_EQ(outputs[0].shape.sizes, (std::vector<std::int64_t>{2, 0, 5}));
  EXPECT_EQ(outputs[0].span_bytes, 0U);
}

TEST_F(SyntheticShape, TheProbeTellsTheShapeOfAFullBatch) {
  load(Dtype::kUint8, {2});
  ASSERT_EQ(bench_.model->probed_outputs().size(), 1U);
  const OutputTensor& probed = bench_.model->probed_outputs()[0];
  EXPECT_EQ(probed.name, "out");
  EXPECT_EQ(probed.shape.sizes, (std::vector<std::int64_t>{4, 2}));
  EXPECT_EQ(probed.span_bytes, 8U);
  EXPECT_EQ(probed.data, nullptr);
}

TEST_F(SyntheticShape, OutputsOutliveTheNextBatch) {
  load(Dtype::kInt64, {2});
  const auto first = bench_.run(0);
  const auto before = raw_values<std::int64_t>(first[0]);
  const auto second = bench_.run(1);
  EXPECT_EQ(raw_values<std::int64_t>(first[0]), before);
  EXPECT_NE(raw_values<std::int64_t>(second[0]), before);
}

}  // namespace
}  // namespace tailrace
