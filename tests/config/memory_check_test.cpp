#include "config/memory_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace tailrace {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint64_t kMiB = 1u << 20;

Config config_with(std::uint32_t slots, std::optional<std::uint64_t> slot_bytes) {
  Config config;
  config.ring.slots = slots;
  config.ring.slot_bytes = slot_bytes;
  return config;
}

MemoryFacts plenty() { return {1000 * kMiB, 1000 * kMiB, 1000 * kMiB, false}; }

std::string remedy_for(const Config& config, const MemoryFacts& facts, const std::string& place) {
  for (const MemoryCheck& check : check_memory(config, facts))
    if (check.place == place) return check.remedy;
  return "(not checked)";
}

TEST(RingBytes, CountsAHeaderAndRoundsEachSlotUpTo2MiB) {
  EXPECT_EQ(ring_bytes(config_with(3, 2 * kMiB).ring), 8 * kMiB);
  EXPECT_EQ(ring_bytes(config_with(3, 2 * kMiB + 1).ring), 14 * kMiB);
}

TEST(RingBytes, DoesNotOverflowAtTheLargestRing) {
  EXPECT_EQ(ring_bytes(config_with(1024, std::uint64_t{1} << 40).ring), (std::uint64_t{1} << 50) + 2 * kMiB);
}

TEST(RingBytes, IsUnknownWhileASlotIs) {
  EXPECT_EQ(ring_bytes(config_with(3, std::nullopt).ring), std::nullopt);
}

TEST(DirectoryWarning, IsGivenOfDisksOnly) {
  EXPECT_EQ(directory_warning("/dev/shm"), std::nullopt);
  EXPECT_EQ(directory_warning("/no/such/folder"), std::nullopt);
  EXPECT_THAT(directory_warning("/proc").value_or(""), HasSubstr("\"/proc\" is not in memory"));
}

TEST(MemoryCheck, FindsNothingWhereThereIsPlenty) {
  for (const MemoryCheck& check : check_memory(config_with(8, 2 * kMiB), plenty()))
    EXPECT_THAT(check.remedy, IsEmpty());
}

TEST(MemoryCheck, NamesNeedThereAndRemedyOfASmallDirectory) {
  MemoryFacts facts = plenty();
  facts.directory_free_bytes = 64 * kMiB;
  EXPECT_THAT(remedy_for(config_with(100, 2 * kMiB), facts, "ring.directory"),
              testing::AllOf(HasSubstr("needs 202 MiB"), HasSubstr("has 64 MiB left"),
                             HasSubstr("ring.slots to at most 31")));
  facts.directory_free_bytes = kMiB;
  EXPECT_THAT(remedy_for(config_with(100, 2 * kMiB), facts, "ring.directory"),
              HasSubstr("make ring.slot_bytes smaller"));
}

TEST(MemoryCheck, AcceptsWhatFitsExactly) {
  MemoryFacts facts = plenty();
  facts.directory_free_bytes = 18 * kMiB;
  EXPECT_THAT(remedy_for(config_with(8, 2 * kMiB), facts, "ring.directory"), IsEmpty());
}

TEST(MemoryCheck, NamesTheCgroupsLimit) {
  MemoryFacts facts = plenty();
  facts.cgroup_limit_bytes = 64 * kMiB;
  EXPECT_THAT(remedy_for(config_with(100, 2 * kMiB), facts, "cgroup memory"), HasSubstr("MemoryMax="));
}

TEST(MemoryCheck, LooksAtLockedMemoryOnlyForAGpuAndAPinnedRing) {
  MemoryFacts facts = plenty();
  facts.memlock_bytes = 64 * kMiB;
  Config config = config_with(100, 2 * kMiB);
  EXPECT_EQ(remedy_for(config, facts, "locked memory"), "(not checked)");
  facts.cuda_device = true;
  EXPECT_THAT(remedy_for(config, facts, "locked memory"), HasSubstr("LimitMEMLOCK=infinity"));
  config.egress.strategy = EgressStrategyKind::kPool;
  EXPECT_EQ(remedy_for(config, facts, "locked memory"), "(not checked)");
  config.egress.strategy = EgressStrategyKind::kAsync;
  config.pipeline.device.kind = DeviceConfig::Kind::kCpu;
  EXPECT_EQ(remedy_for(config, facts, "locked memory"), "(not checked)");
}

TEST(MemoryCheck, HasNothingToSayOfUnknownSizesAndLimits) {
  EXPECT_THAT(remedy_for(config_with(1000, std::nullopt), plenty(), "ring.directory"), IsEmpty());
  EXPECT_THAT(remedy_for(config_with(1000, 2 * kMiB), MemoryFacts{}, "cgroup memory"), IsEmpty());
}

TEST(MemoryFacts, KnowTheSpaceOfAFolder) {
  EXPECT_TRUE(read_memory_facts("/dev/shm").directory_free_bytes.has_value());
  EXPECT_FALSE(read_memory_facts("/no/such/folder").directory_free_bytes.has_value());
}

}  // namespace
}  // namespace tailrace
