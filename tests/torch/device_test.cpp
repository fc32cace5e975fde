#include "producer/device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>

#include "producer/errors.hpp"

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

}  // namespace
}  // namespace tailrace
