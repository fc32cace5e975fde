#include "producer/device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "producer/errors.hpp"
#include "tests/torch/model_testing.hpp"

namespace tailrace {
namespace {

using testing::HasSubstr;

TEST(Device, CpuMemoryBeginsAtAPageAndHasTheSizeAskedFor) {
  const auto device = make_device({DeviceConfig::Kind::kCpu, 0});
  const auto memory = device->allocate(12'345);
  EXPECT_EQ(memory->bytes().size(), 12'345U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory->bytes().data()) % 4096, 0U);
  EXPECT_TRUE(device->allocate(0)->bytes().empty());
}

TEST(Device, CpuCopiesBytes) {
  const auto device = make_device({DeviceConfig::Kind::kCpu, 0});
  const std::array<std::byte, 3> source{std::byte{1}, std::byte{2}, std::byte{3}};
  std::array<std::byte, 3> destination{};
  device->copy_to_host(destination, source.data());
  EXPECT_EQ(destination, source);
  device->copy_to_host({}, nullptr);
}

TEST(Device, CpuAskedForIsCpuAndNothingElse) {
  const auto device = make_device({DeviceConfig::Kind::kCpu, 0});
  EXPECT_EQ(device->description(), "cpu");
  EXPECT_FALSE(device->is_cuda());
  EXPECT_EQ(device->compute_stream(), nullptr);
}

TEST(Device, AutoAlwaysFindsADeviceAndSaysWhyItIsTheCpu) {
  const auto device = make_device({DeviceConfig::Kind::kAuto, 0});
  EXPECT_THAT(device->description(), device->is_cuda() ? HasSubstr("cuda:0 (") : HasSubstr("cpu ("));
}

TEST(Device, ADeviceThatIsNotThereIsRefusedWithWhatIsThere) {
  try {
    make_device({DeviceConfig::Kind::kCuda, 999});
    FAIL() << "no machine has a thousand GPUs";
  } catch (const NoSuchDevice& error) {
    EXPECT_THAT(error.what(), HasSubstr("cuda:999"));
    EXPECT_THAT(error.what(), HasSubstr("there is"));
  }
}

// On the device under test, which may be a GPU.
class DeviceUnderTest : public testing::Test {
 protected:
  Device& device() { return *bench_.device; }
  std::vector<std::byte> on_host(std::span<const std::byte> bytes) {
    std::vector<std::byte> host(bytes.size());
    device().copy_to_host(host, bytes.data());
    return host;
  }
  /// A model that doubles float32 [1 << 20] per item.
  void load_doubling_model() {
    bench_.set_input(Dtype::kFloat32, {1 << 20});
    bench_.set_script("return x * 2.0");
    bench_.load();
  }

  ModelBench bench_;
};

TEST_F(DeviceUnderTest, UploadsWhatIsInTheLaneWhenTheModelAsksForIt) {
  constexpr std::size_t kBytes = std::size_t{8} << 20;
  constexpr std::size_t kLanes = 3;
  const auto uploader = device().make_uploader(kBytes, kLanes);
  const auto memory = device().allocate(kLanes * kBytes);
  for (std::size_t round = 0; round < 4; ++round) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const auto source = memory->bytes().subspan(lane * kBytes, kBytes);
      std::ranges::fill(source, std::byte(round * kLanes + lane));
      uploader->submit(lane, source);
    }
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const auto bytes = on_host(uploader->acquire(lane));
      uploader->release(lane);
      EXPECT_EQ(bytes, std::vector<std::byte>(kBytes, std::byte(round * kLanes + lane)));
      EXPECT_GE(uploader->wait(lane).count(), 0);
    }
  }
}

TEST_F(DeviceUnderTest, ClocksEachBatchOnceAndInOrder) {
  load_doubling_model();
  const auto clock = device().make_compute_clock();
  EXPECT_FALSE(clock->take());
  for (int i = 0; i < 3; ++i) {
    clock->start();
    bench_.run();
    clock->stop();
  }
  bench_.run();  // copies to the host: behind all that was clocked
  for (int i = 0; i < 3; ++i) {
    const auto duration = clock->take();
    ASSERT_TRUE(duration);
    EXPECT_GT(duration->count(), 0);
  }
  EXPECT_FALSE(clock->take());
}

TEST_F(DeviceUnderTest, AMarkThatIsNotReachedGivesNoTime) {
  if (!device().is_cuda()) GTEST_SKIP() << "no CUDA device";
  load_doubling_model();
  const auto clock = device().make_compute_clock();
  clock->start();
  bench_.run();
  EXPECT_FALSE(clock->take()) << "not stopped yet";
  clock->stop();
}

TEST_F(DeviceUnderTest, MeasuresItsLinkWhereItHasOne) {
  const auto memory = device().allocate(std::size_t{64} << 20);
  const auto figures = device().measure_link(memory->bytes());
  ASSERT_EQ(figures.has_value(), device().is_cuda());
  if (!figures) return;
  EXPECT_GT(figures->plain_bytes_per_s, 1e9);
  EXPECT_GT(figures->ring_bytes_per_s, 1e9);
  EXPECT_GE(figures->overlap, 0);
  EXPECT_LE(figures->overlap, 1);
}

TEST_F(DeviceUnderTest, RefusesToPinTwiceAndGoesOnAsBefore) {
  if (!device().is_cuda()) GTEST_SKIP() << "no CUDA device";
  std::vector<std::byte> memory(std::size_t{4} << 20);
  const auto pin = device().pin(memory);
  EXPECT_THROW(device().pin(memory), CannotPin);
  load_doubling_model();
  EXPECT_EQ(bench_.run().size(), 1U) << "no error was left behind";
}

}  // namespace
}  // namespace tailrace
