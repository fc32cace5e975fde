#include "producer/sources/synthetic_source.hpp"

#include <gmock/gmock.h>

#include <stdexcept>

namespace tailrace {
namespace {

SourceConfig small_config() {
  SourceConfig config;
  config.items = 10;
  config.shape = {2, 3};
  config.batch_size = 4;
  return config;
}

std::vector<std::byte> read(const Source& source, std::uint64_t index) {
  std::vector<std::byte> bytes(source.spec().item_bytes());
  Row row;
  source.read(index, bytes, row);
  return bytes;
}

TEST(SyntheticSource, MakesTheSameItemsOnEachStart) {
  const SyntheticSource a(small_config());
  const SyntheticSource b(small_config());
  for (std::uint64_t i = 0; i < 10; ++i) EXPECT_EQ(read(a, i), read(b, i));
  EXPECT_NE(read(a, 0), read(a, 1));
}

TEST(SyntheticSource, GivesAShardTheItemsOfTheWholeList) {
  SourceConfig config = small_config();
  config.shard_index = 2;
  config.shard_count = 3;
  const SyntheticSource shard(config);
  const SyntheticSource whole(small_config());
  ASSERT_EQ(shard.item_count(), 3U);
  for (std::uint64_t i = 0; i < 3; ++i) EXPECT_EQ(read(shard, i), read(whole, 3 * i + 2));
  EXPECT_EQ(shard.digest(), whole.digest());
}

TEST(SyntheticSource, SplitsEveryListIntoShardsWithoutLossOrOverlap) {
  for (std::uint64_t items = 1; items < 9; ++items) {
    std::vector<int> seen(items);
    for (std::uint32_t k = 0; k < 4; ++k) {
      SourceConfig config = small_config();
      config.items = items;
      config.shard_index = k;
      config.shard_count = 4;
      const SyntheticSource source(config);
      for (std::uint64_t i = 0; i < source.item_count(); ++i) {
        Row row;
        source.describe(i, row);
        ++seen.at(row.item);
      }
    }
    EXPECT_THAT(seen, testing::Each(1)) << items;
  }
}

TEST(SyntheticSource, RepeatsTheFirstBatchWhenFixed) {
  SourceConfig config = small_config();
  config.fixed = true;
  const SyntheticSource source(config);
  EXPECT_TRUE(source.fixed());
  for (std::uint64_t i = 0; i < 10; ++i) EXPECT_EQ(read(source, i), read(source, i % 4));
}

TEST(SyntheticSource, HasADigestThatNoticesAnotherListOrShape) {
  SourceConfig more = small_config();
  more.items = 11;
  SourceConfig wider = small_config();
  wider.shape = {3, 2};
  const std::uint64_t digest = SyntheticSource(small_config()).digest();
  EXPECT_NE(digest, SyntheticSource(more).digest());
  EXPECT_NE(digest, SyntheticSource(wider).digest());
}

TEST(SyntheticSource, RefusesAnEmptyList) {
  SourceConfig config = small_config();
  config.items = 0;
  EXPECT_THROW(SyntheticSource{config}, std::invalid_argument);
}

}  // namespace
}  // namespace tailrace
