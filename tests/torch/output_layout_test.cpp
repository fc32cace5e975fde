#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <complex>

#include "producer/errors.hpp"
#include "tests/torch/model_testing.hpp"
#include "tests/torch/script_file.hpp"

namespace tailrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class OutputLayout : public testing::Test {
 protected:
  OutputLayout() {
    bench_.set_input(Dtype::kFloat32, {2, 3});
    bench_.set_values<float>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  }

  OutputTensor output_of(const std::string& body, std::size_t rows = 2) {
    bench_.set_script(body);
    bench_.load();
    return bench_.run(0, rows).at(0);
  }

  std::string error_of(const std::string& body) {
    bench_.set_script(body);
    return bench_.load_error();
  }

  ModelBench bench_;
};

TEST_F(OutputLayout, ATransposedTensorKeepsItsStrides) {
  const OutputTensor output = output_of("return x.transpose(1, 2)");
  EXPECT_THAT(output.shape.sizes, ElementsAre(2, 3, 2));
  EXPECT_THAT(output.shape.strides, ElementsAre(6, 1, 3));
  EXPECT_EQ(output.span_bytes, 48U);
  EXPECT_THAT(raw_values<float>(output), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  EXPECT_THAT(logical_values<float>(output), ElementsAre(0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11));
}

TEST_F(OutputLayout, ChannelsLastKeepsItsStridesInAPartialBatch) {
  const OutputTensor output = output_of("return x.view(2, 2, 1, 3).contiguous(memory_format=2)", 1);
  EXPECT_THAT(output.shape.sizes, ElementsAre(1, 2, 1, 3));
  EXPECT_THAT(output.shape.strides, ElementsAre(6, 1, 6, 2));
  EXPECT_EQ(output.span_bytes, 24U);
  EXPECT_THAT(logical_values<float>(output), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST_F(OutputLayout, APartialBatchOfRowsThatInterleaveIsMadeContiguous) {
  const OutputTensor output = output_of("return x.view(2, 6).t().contiguous().t()", 1);
  EXPECT_THAT(output.shape.sizes, ElementsAre(1, 6));
  EXPECT_EQ(output.span_bytes, 24U);
  EXPECT_THAT(logical_values<float>(output), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST_F(OutputLayout, AnExpandedTensorIsMadeContiguous) {
  const OutputTensor output = output_of("return x[:, :1, :1].expand(2, 2, 2)");
  EXPECT_THAT(output.shape.strides, ElementsAre(4, 2, 1));
  EXPECT_THAT(raw_values<float>(output), ElementsAre(0, 0, 0, 0, 6, 6, 6, 6));
}

TEST_F(OutputLayout, ASliceWithHolesIsMadeContiguous) {
  const OutputTensor output = output_of("return x[:, :, ::2]");
  EXPECT_EQ(output.span_bytes, 32U);
  EXPECT_THAT(raw_values<float>(output), ElementsAre(0, 2, 3, 5, 6, 8, 9, 11));
}

TEST_F(OutputLayout, ASliceWithoutHolesStartsAtItsOwnFirstElement) {
  const OutputTensor output = output_of("return {'out': x[1], 'x': x}['out']");
  EXPECT_THAT(raw_values<float>(output), ElementsAre(6, 7, 8, 9, 10, 11));
}

TEST_F(OutputLayout, LazyConjugationIsResolved) {
  const OutputTensor output = output_of("return torch.conj(torch.complex(x, x))");
  EXPECT_EQ(output.shape.dtype, Dtype::kComplex64);
  EXPECT_EQ(raw_values<std::complex<float>>(output).at(5), std::complex<float>(5, -5));
}

TEST_F(OutputLayout, LazyNegationIsResolved) {
  const OutputTensor output = output_of("return torch.imag(torch.conj(torch.complex(x, x)))");
  EXPECT_EQ(raw_values<float>(output).at(5), -5);
}

TEST_F(OutputLayout, AnEmptyTensorHasNoBytes) {
  const OutputTensor output = output_of("return x[:, :0]");
  EXPECT_THAT(output.shape.sizes, ElementsAre(2, 0, 3));
  EXPECT_EQ(output.span_bytes, 0U);
}

TEST_F(OutputLayout, AScalarBelongsToTheWholeBatch) {
  const OutputTensor output = output_of("return x.sum()", 1);
  EXPECT_FALSE(output.per_row);
  EXPECT_TRUE(output.shape.sizes.empty());
  EXPECT_THAT(raw_values<float>(output), ElementsAre(66));
}

TEST_F(OutputLayout, AnOutputWithAnotherFirstSizeIsNotCut) {
  const OutputTensor output = output_of("return x.view(3, 4)", 1);
  EXPECT_FALSE(output.per_row);
  EXPECT_THAT(output.shape.sizes, ElementsAre(3, 4));
}

TEST_F(OutputLayout, AnEmptyBatchGivesNoRows) {
  const OutputTensor output = output_of("return x", 0);
  EXPECT_THAT(output.shape.sizes, ElementsAre(0, 2, 3));
  EXPECT_EQ(output.span_bytes, 0U);
}

TEST_F(OutputLayout, ManyDimensionsArePassedOn) {
  const OutputTensor output = output_of("return x.view([2, 2, 3] + [1] * 29)");
  EXPECT_EQ(output.shape.rank(), 32U);
}

TEST_F(OutputLayout, ASparseTensorIsRefused) {
  EXPECT_THAT(error_of("return x.view(2, 6).to_sparse()"), HasSubstr("\"out\" is a sparse or nested"));
}

TEST_F(OutputLayout, ADtypeThatNobodyCanReadIsRefusedByName) {
  EXPECT_THAT(error_of("return torch.quantize_per_tensor(x, 0.1, 0, 12)"), HasSubstr("dtype QInt8"));
}

TEST_F(OutputLayout, EgressDtypeConverts) {
  bench_.egress.dtype = Dtype::kFloat64;
  const OutputTensor output = output_of("return x");
  EXPECT_EQ(output.shape.dtype, Dtype::kFloat64);
  EXPECT_EQ(raw_values<double>(output).at(11), 11.0);
}

TEST_F(OutputLayout, EgressDtypeDoesNotDropImaginaryParts) {
  bench_.egress.dtype = Dtype::kFloat32;
  EXPECT_THAT(error_of("return torch.complex(x, x)"), HasSubstr("imaginary"));
}

class OutputDtype : public OutputLayout, public testing::WithParamInterface<DtypeInfo> {};

TEST_P(OutputDtype, OfAModelIsPassedOn) {
  const std::string name(GetParam().name);
  const OutputTensor output = output_of("return x.to(" + std::to_string(script_number_of(name)) + ")");
  EXPECT_EQ(output.shape.dtype, GetParam().dtype);
  EXPECT_EQ(output.span_bytes, 12 * GetParam().bytes);
}

INSTANTIATE_TEST_SUITE_P(AllDtypes, OutputDtype, testing::ValuesIn(kDtypes),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace tailrace
