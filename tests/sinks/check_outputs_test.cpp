#include "consumer/sinks/check_outputs.hpp"

#include "tests/sinks/support.hpp"

namespace tailrace {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TensorView output(const std::string& name, Dtype dtype, std::vector<std::int64_t> sizes,
                  bool per_row = true) {
  return {name, {dtype, sizes, sizes}, per_row, {}};
}

std::string fault(SinkKind kind, const std::vector<TensorView>& outputs, const std::string& tensor = {}) {
  SinkConfig config;
  config.kind = kind;
  config.tensor = tensor;
  return testing::message_of([&] { check_outputs(config, outputs); });
}

TEST(CheckOutputs, WantsClassScoresOrClassesForMasks) {
  EXPECT_THAT(fault(SinkKind::kPngMask, {output("out", Dtype::kFloat32, {4, 21, 8, 8})}), IsEmpty());
  EXPECT_THAT(fault(SinkKind::kPngMask, {output("out", Dtype::kInt64, {4, 8, 8})}), IsEmpty());
  EXPECT_THAT(fault(SinkKind::kPngMask, {output("out", Dtype::kFloat32, {4, 300, 8, 8})}),
              HasSubstr("[4, 300, 8, 8]"));
  EXPECT_THAT(fault(SinkKind::kPngMask, {output("out", Dtype::kFloat32, {4, 128})}),
              HasSubstr("[4, 128] float32"));
  EXPECT_THAT(fault(SinkKind::kPngMask, {output("out", Dtype::kFloat32, {4, 8, 8})}), HasSubstr("integer"));
  EXPECT_THAT(fault(SinkKind::kPngMask, {output("out", Dtype::kComplex64, {4, 21, 8, 8})}),
              HasSubstr("complex64"));
  EXPECT_THAT(fault(SinkKind::kPngMask, {output("out", Dtype::kFloat32, {2, 21, 8, 8}, false)}),
              HasSubstr("rows"));
}

TEST(CheckOutputs, NamesDtypesThatArrayFilesCannotHold) {
  EXPECT_THAT(fault(SinkKind::kNpy, {output("a", Dtype::kBfloat16, {4}), output("b", Dtype::kBool, {})}),
              IsEmpty());
  EXPECT_THAT(
      fault(SinkKind::kNpy, {output("a", Dtype::kFloat32, {4}), output("b", Dtype::kFloat8E5m2, {4})}),
      AllOf(HasSubstr("b"), HasSubstr("float8_e5m2")));
}

TEST(CheckOutputs, ListsTheOutputsWhereTheChosenOneIsNotThere) {
  for (const SinkKind kind :
       {SinkKind::kNull, SinkKind::kChecksum, SinkKind::kExec, SinkKind::kNpy, SinkKind::kPngMask})
    EXPECT_THAT(
        fault(kind, {output("out", Dtype::kFloat32, {4}), output("aux", Dtype::kFloat32, {4})}, "none"),
        AllOf(HasSubstr("none"), HasSubstr("out"), HasSubstr("aux")));
}

}  // namespace
}  // namespace tailrace
