#include "config/exit_codes.hpp"
#include "tests/gpu/faulty_batch.hpp"
#include "tests/gpu/occupied_memory.hpp"

namespace tailrace {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kBadName = "batch 2";
constexpr std::int64_t kBadValue = std::int64_t{1} << 50;  // bytes: more than any device has

/// The model takes as many bytes as the largest value of the batch says.
class OutOfMemory : public FaultyBatch {
 protected:
  void SetUp() override {
    FaultyBatch::SetUp();
    if (IsSkipped()) return;
    write_pipeline(
        "room = torch.zeros([int(x.max()) + 1], dtype=0, device=x.device)\n    return x * 3 + 1 + room[:1]",
        kBadValue);
  }
};

TEST_F(OutOfMemory, EndsTheProducerWithTryAgainAndTheBatchsName) {
  auto& producer = run_producer();
  EXPECT_EQ(producer.wait(), kExitTryAgain) << producer.err();
  EXPECT_THAT(error_lines(producer), ElementsAre(AllOf(HasSubstr(kBadName), HasSubstr("memory"))));
}

TEST_F(OutOfMemory, LetsTheBatchesBeforeItOutAndLeavesNoSlotHalfFilled) {
  run_producer();
  EXPECT_EQ(left_ring().protocol().count(GroupId{0}).filling, 0U);
  read_published();
  EXPECT_EQ(batches(), all_batches(kBad));
}

TEST_F(OutOfMemory, IsMadeGoodByTheNextProducer) {
  run_producer();
  mend();
  auto& producer = run_whole_pipeline();
  EXPECT_EQ(producer.wait(), kExitDone) << producer.err();
  EXPECT_EQ(batches(), all_batches());
}

/// The model runs out of memory with batch kBad, but only at its first try, after which its memory is cached.
class PassingOutOfMemory : public FaultyBatch {
 protected:
  void SetUp() override {
    FaultyBatch::SetUp();
    if (IsSkipped()) return;
    write_pipeline("if bool((x == " + std::to_string(value_of_item(kBad * kBatchSize)) +
                       ").any()) and int(self.count[0]) == 0:\n"
                       "        self.count.fill_(1.0)\n"
                       "        room = torch.zeros([" +
                       std::to_string(cached_bytes()) +
                       "], dtype=0, device=x.device)\n"
                       "        assert bool(room[0] > 0), 'CUDA out of memory'\n"
                       "    return x * 3 + 1",
                   {});
  }

  // Far more than a producer takes by itself.
  static std::int64_t cached_bytes() { return tests_cuda() ? std::int64_t{4} << 30 : 1; }
};

TEST_F(PassingOutOfMemory, LosesAndDoublesNothing) {
  auto& producer = run_whole_pipeline();
  EXPECT_EQ(producer.wait(), kExitDone) << producer.err();
  EXPECT_EQ(batches(), all_batches());
  EXPECT_THAT(error_lines(producer), IsEmpty());
}

TEST_F(PassingOutOfMemory, GivesCachedMemoryBackBeforeTheSecondTry) {
  if (!tests_cuda()) GTEST_SKIP() << "on the CPU nothing is cached";
  const std::size_t before = OccupiedMemory::free_bytes();
  auto& producer = start_producer();
  const auto ring = wait_for_ring(files_, [&] { return !producer.running(); });
  ASSERT_TRUE(ring) << producer.err();
  ASSERT_TRUE(eventually([&] { return ring->protocol().count(GroupId{0}).ready == kBatches; }))
      << producer.err();
  EXPECT_LT(before - OccupiedMemory::free_bytes(), static_cast<std::size_t>(cached_bytes()));
}

}  // namespace
}  // namespace tailrace
