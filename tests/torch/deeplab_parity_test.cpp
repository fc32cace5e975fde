#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iterator>

#include "tests/torch/model_testing.hpp"

namespace tailrace {
namespace {

const std::string kPython = TAILRACE_SOURCE_DIR "/.venv/bin/python";

/// The exit status of a Python command; -1 where it cannot be started.
int run_python(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), kPython);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  if (posix_spawn(&child, kPython.c_str(), nullptr, nullptr, argv.data(), environ) != 0) return -1;
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

std::vector<std::byte> bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> text{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::byte> bytes(text.size());
  std::ranges::transform(text, bytes.begin(), [](char c) { return static_cast<std::byte>(c); });
  return bytes;
}

class DeepLabParity : public testing::Test {
 protected:
  void SetUp() override {
    if (run_python({"-c", "import torch, torchvision"}) != 0)
      GTEST_SKIP() << kPython << " with torch and torchvision is not there: run ./dev setup";
    const std::string script = TAILRACE_SOURCE_DIR "/tests/torch/deeplab_reference.py";
    ASSERT_EQ(run_python({script, bench_.folder.file("")}), 0);
  }

  /// Largest difference to torchvision's logits for one size, fp32 on the CPU.
  double difference(const std::string& weights, std::int64_t height, std::int64_t width) {
    const std::string size = std::to_string(height) + "x" + std::to_string(width);
    bench_.config.kind = ModelKind::kDeeplabv3Resnet50;
    bench_.config.path = bench_.folder.file(weights);
    bench_.source.batch_size = 2;
    bench_.set_input(Dtype::kFloat32, {3, height, width});
    bench_.load();
    bench_.input = bytes_of(bench_.folder.file("input_" + size + ".bin"));
    const std::vector<std::byte> expected = bytes_of(bench_.folder.file("logits_" + size + ".bin"));
    const auto found = logical_values<float>(bench_.run().at(0));
    if (found.size() * sizeof(float) != expected.size()) return INFINITY;
    std::vector<float> wanted(found.size());
    std::memcpy(wanted.data(), expected.data(), expected.size());
    double largest = 0;
    for (std::size_t i = 0; i < found.size(); ++i)
      largest = std::max(largest, std::abs(static_cast<double>(found[i]) - wanted[i]));
    RecordProperty("largest_difference", std::to_string(largest));
    return largest;
  }

  ModelBench bench_;
};

TEST_F(DeepLabParity, WeightsSavedByTorchGiveTorchvisionsLogits) {
  EXPECT_LT(difference("weights.pth", 65, 97), 1e-3);
  EXPECT_LT(difference("weights.pth", 64, 64), 1e-3);
}

TEST_F(DeepLabParity, WeightsInSafetensorsGiveTorchvisionsLogits) {
  EXPECT_LT(difference("weights.safetensors", 65, 97), 1e-3);
}

}  // namespace
}  // namespace tailrace
