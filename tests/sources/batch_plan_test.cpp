#include "producer/batch_plan.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace tailrace {
namespace {

constexpr ItemMap kTenInThrees{.position_count = 10, .batch_size = 3};

std::vector<std::uint64_t> to_do(const BatchPlan& plan) {
  std::vector<std::uint64_t> batches;
  for (BatchNumber batch = plan.first_from(BatchNumber{0}); batch != plan.end();
       batch = plan.first_from(next(batch)))
    batches.push_back(value_of(batch));
  return batches;
}

TEST(BatchPlan, HasEveryBatchOfANewJob) {
  const BatchPlan plan(kTenInThrees, std::vector<bool>(10, false));
  EXPECT_EQ(to_do(plan), (std::vector<std::uint64_t>{0, 1, 2, 3}));
  EXPECT_EQ(plan.finished_items(), 0U);
  EXPECT_FALSE(plan.nothing_to_do());
}

TEST(BatchPlan, LeavesOutOnlyBatchesWhoseEveryItemIsFinished) {
  std::vector<bool> finished(10, true);
  finished[4] = false;
  const BatchPlan plan(kTenInThrees, finished);
  EXPECT_EQ(to_do(plan), (std::vector<std::uint64_t>{1}));
  EXPECT_EQ(plan.finished_items(), 7U);
}

TEST(BatchPlan, KnowsTheShortLastBatch) {
  std::vector<bool> finished(10, false);
  finished[9] = true;
  const BatchPlan plan(kTenInThrees, finished);
  EXPECT_EQ(to_do(plan), (std::vector<std::uint64_t>{0, 1, 2}));
  EXPECT_EQ(plan.finished_items(), 1U);
  EXPECT_EQ(plan.first_from(BatchNumber{3}), plan.end());
  EXPECT_EQ(plan.first_from(BatchNumber{99}), plan.end());
}

TEST(BatchPlan, HasNothingToDoWhereEverythingIsFinished) {
  EXPECT_TRUE(BatchPlan(kTenInThrees, std::vector<bool>(10, true)).nothing_to_do());
}

TEST(ItemMap, NamesTheItemsOfABatchOfAShard) {
  const ItemMap shard{.position_count = 5, .batch_size = 2, .shard_index = 1, .shard_count = 3};
  EXPECT_EQ(shard.items_of(BatchNumber{1}), (std::vector<std::uint64_t>{7, 10}));
  EXPECT_EQ(shard.items_of(BatchNumber{2}), (std::vector<std::uint64_t>{13}));
  EXPECT_TRUE(shard.items_of(BatchNumber{3}).empty());
}

}  // namespace
}  // namespace tailrace
