#include <gtest/gtest.h>

#include "tests/torch/model_testing.hpp"

namespace tailrace {
namespace {

TEST(Capture, MayBeginAndEndAgainAndAgainWithoutAProfiler) {
  ModelBench bench;
  bench.set_script("return x * 2.0");
  bench.load();
  for (int i = 0; i < 2; ++i) {
    const auto capture = bench.device->make_capture();
    EXPECT_EQ(bench.run().size(), 1U);
  }
  EXPECT_EQ(bench.run().size(), 1U) << "the device is as before";
}

}  // namespace
}  // namespace tailrace
