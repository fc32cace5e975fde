#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "producer/errors.hpp"
#include "tests/torch/model_testing.hpp"

namespace tailrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Graphed : public testing::Test {
 protected:
  void SetUp() override {
    if (!bench_.device->is_cuda()) GTEST_SKIP() << "no CUDA device";
  }
  std::vector<OutputTensor> compute(const std::vector<float>& values) {
    bench_.set_values<float>(values);
    const auto uploader = bench_.device->make_uploader(bench_.input.size(), 1);
    uploader->submit(0, bench_.input);
    auto outputs = bench_.model->run({BatchNumber{0}, 2, uploader->acquire(0)});
    uploader->release(0);
    uploader->wait(0);
    return outputs;
  }

  ModelBench bench_;
};

TEST_F(Graphed, ComputesWhatTheModelComputes) {
  bench_.config.cuda_graph = CudaGraph::kOn;
  bench_.set_script("y = x * 2.0\n    return {'out': y.relu() + 1.0, 'sum': y.sum(1)}");
  bench_.config.outputs = {"out", "sum"};
  bench_.load();
  EXPECT_THAT(bench_.model->description(), HasSubstr("as a CUDA graph"));
  const auto outputs = bench_.on_host(compute({0, 1, -2, 3, -4, 5}));
  EXPECT_THAT(raw_values<float>(outputs[0]), ElementsAre(1, 3, 1, 7, 1, 11));
  EXPECT_THAT(raw_values<float>(outputs[1]), ElementsAre(-2, 8));
}

TEST_F(Graphed, AnOutputKeepsItsValuesWhileTheNextBatchRuns) {
  bench_.config.cuda_graph = CudaGraph::kOn;
  bench_.set_script("return x * 2.0");
  bench_.load();
  auto first = compute({0, 1, 2, 3, 4, 5});
  (void)compute({9, 9, 9, 9, 9, 9});
  EXPECT_THAT(raw_values<float>(bench_.on_host(std::move(first))[0]), ElementsAre(0, 2, 4, 6, 8, 10));
}

TEST_F(Graphed, AModelThatCannotBeRecordedRunsAsItIs) {
  bench_.set_script("return x * float(x.sum().item())");  // asks the device for a value in the middle
  bench_.config.cuda_graph = CudaGraph::kAuto;
  bench_.load();
  EXPECT_THAT(bench_.model->description(), IsEmpty());
  EXPECT_THAT(raw_values<float>(bench_.on_host(compute({1, 1, 1, 1, 1, 1}))[0]),
              ElementsAre(6, 6, 6, 6, 6, 6));
}

TEST_F(Graphed, AModelThatMustBeRecordedAndCannotIsRefused) {
  bench_.set_script("return x * float(x.sum().item())");
  bench_.config.cuda_graph = CudaGraph::kOn;
  EXPECT_THROW(bench_.load(), std::runtime_error);
}

}  // namespace
}  // namespace tailrace
