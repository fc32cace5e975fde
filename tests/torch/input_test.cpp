#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "producer/errors.hpp"
#include "tests/torch/model_testing.hpp"

namespace tailrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ModelInput, ImagesBecomeNormalisedPlanes) {
  ModelBench bench;
  bench.source.batch_size = 1;
  bench.set_input(Dtype::kUint8, {1, 2, 3});
  bench.spec.image = true;
  bench.set_script("return x");
  bench.load();
  bench.set_values<std::uint8_t>({0, 51, 102, 153, 204, 255});  // two pixels, RGB
  const auto outputs = bench.run();
  EXPECT_THAT(outputs[0].shape.sizes, ElementsAre(1, 3, 1, 2));
  const auto values = logical_values<float>(outputs[0]);
  const std::vector<int> planes{0, 153, 51, 204, 102, 255};
  for (std::size_t i = 0; i < planes.size(); ++i) {
    const double expected = (planes[i] / 255.0 - bench.source.mean[i / 2]) / bench.source.std[i / 2];
    EXPECT_NEAR(values.at(i), expected, 1e-6) << i;
  }
}

TEST(ModelInput, MeanAndStdMustFitTheChannels) {
  ModelBench bench;
  bench.set_input(Dtype::kUint8, {2, 2, 3});
  bench.spec.image = true;
  bench.source.mean = {0.5};
  bench.set_script("return x");
  EXPECT_THAT(bench.load_error(), HasSubstr("source.mean has 1 values"));
}

TEST(ModelInput, OtherSourcesKeepTheirDtypeAndShape) {
  ModelBench bench;
  bench.set_input(Dtype::kInt16, {2});
  bench.set_values<std::int16_t>({-1, 2, -3, 4});
  bench.set_script("return x");
  bench.load();
  const auto outputs = bench.run();
  EXPECT_EQ(outputs[0].shape.dtype, Dtype::kInt16);
  EXPECT_THAT(raw_values<std::int16_t>(outputs[0]), ElementsAre(-1, 2, -3, 4));
}

TEST(ModelInput, AnOutputDoesNotShareTheInputBuffer) {
  ModelBench bench;
  bench.set_script("return x");
  bench.load();
  const auto outputs = bench.run();
  bench.set_values<float>({9, 9, 9, 9, 9, 9});
  EXPECT_THAT(raw_values<float>(outputs[0]), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(ModelInput, AModelThatComputesInPlaceDoesNotSpoilTheInput) {
  ModelBench bench;
  bench.set_script("return x.add_(1)");
  bench.load();
  const auto uploader = bench.device->make_uploader(bench.input.size(), 1);
  uploader->submit(0, bench.input);
  for (int i = 0; i < 2; ++i) {
    const auto outputs = bench.on_host(bench.model->run({BatchNumber{0}, 2, uploader->acquire(0)}));
    EXPECT_THAT(raw_values<float>(outputs[0]), ElementsAre(1, 2, 3, 4, 5, 6));
  }
}

TEST(ModelInput, ABatchOfAnotherSizeIsRefused) {
  ModelBench bench;
  bench.set_script("return x");
  bench.load();
  EXPECT_THROW(bench.run(0, 3), ModelError);
  bench.input.pop_back();
  EXPECT_THROW(bench.run(), ModelError);
}

}  // namespace
}  // namespace tailrace
