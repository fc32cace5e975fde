#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "producer/errors.hpp"
#include "tests/torch/model_testing.hpp"

namespace tailrace {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class DeepLab : public testing::Test {
 protected:
  DeepLab() {
    bench_.config.kind = ModelKind::kDeeplabv3Resnet50;
    bench_.config.classes = 5;
    bench_.source.batch_size = 1;
    bench_.set_input(Dtype::kFloat32, {3, 17, 33});
  }

  ModelBench bench_;
};

TEST_F(DeepLab, RandomWeightsAreSaidLoudlyAndFollowTheSeed) {
  bench_.load();
  EXPECT_THAT(bench_.model->notes(), ElementsAre(HasSubstr("RANDOM weights (seed 0)")));
  bench_.set_values(std::vector<float>(3 * 17 * 33, 0.5F));
  const auto first = raw_values<float>(bench_.run()[0]);
  bench_.load();
  EXPECT_EQ(raw_values<float>(bench_.run()[0]), first);
  bench_.config.seed = 1;
  bench_.load();
  EXPECT_NE(raw_values<float>(bench_.run()[0]), first);
}

TEST_F(DeepLab, LogitsHaveTheInputsSizeAndAreFinite) {
  bench_.load();
  const auto outputs = bench_.run();
  EXPECT_THAT(outputs[0].shape.sizes, ElementsAre(1, 5, 17, 33));
  for (const float value : raw_values<float>(outputs[0])) ASSERT_TRUE(std::isfinite(value));
}

TEST_F(DeepLab, NarrowPrecisionGivesNarrowLogitsChannelsLast) {
  bench_.config.precision = Precision::kBf16;
  bench_.load();
  const auto outputs = bench_.run();
  EXPECT_EQ(outputs[0].shape.dtype, Dtype::kBfloat16);
  EXPECT_EQ(outputs[0].shape.strides.at(1), 1);
}

TEST_F(DeepLab, AnInputOfAnotherShapeIsRefused) {
  bench_.set_input(Dtype::kFloat32, {4, 16, 16});
  EXPECT_THAT(bench_.load_error(),
              AllOf(HasSubstr("[batch, 3, height, width]"), HasSubstr("[1, 4, 16, 16]")));
}

TEST_F(DeepLab, WeightsThatDoNotFitAreNamed) {
  const std::string header = R"({"classifier.4.weight":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},
    "aux_classifier.0.weight":{"dtype":"U8","shape":[1],"data_offsets":[3,4]},
    "head.weight":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}})";
  bench_.config.path = bench_.folder.file("odd.safetensors");
  const std::uint64_t length = header.size();
  std::ofstream file(bench_.config.path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(&length), sizeof length);
  file << header << "12345678";
  file.close();
  const std::string error = bench_.load_error();
  EXPECT_THAT(error,
              AllOf(HasSubstr("missing backbone.bn1.bias [64]"), HasSubstr("and "), HasSubstr(" more")));
  EXPECT_THAT(error, testing::Not(HasSubstr("num_batches_tracked")));
}

TEST_F(DeepLab, WeightFilesOfAnotherKindAreNamed) {
  bench_.config.path = bench_.folder.file("weights.pth");
  std::ofstream(bench_.config.path) << "these are no weights";
  EXPECT_THAT(bench_.load_error(), HasSubstr("weights.pth cannot be read as what torch.save writes"));
  bench_.config.path = bench_.folder.file("absent.pth");
  EXPECT_THAT(bench_.load_error(), HasSubstr("absent.pth is not there"));
}

TEST(AotiModel, IsRefusedWithTheAlternative) {
  ModelBench bench;
  bench.config.kind = ModelKind::kAoti;
  EXPECT_THAT(bench.load_error(), HasSubstr("torchscript"));
}

}  // namespace
}  // namespace tailrace
