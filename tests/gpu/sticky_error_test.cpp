// An error that only ending the process can clear: an index out of range on the device.
#include "config/exit_codes.hpp"
#include "tests/gpu/faulty_batch.hpp"

namespace tailrace {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string kBadName = "batch 2";

class StickyError : public FaultyBatch {
 protected:
  void SetUp() override {
    FaultyBatch::SetUp();
    if (IsSkipped()) return;
    write_pipeline(looked_up(), 100 * kValues);
  }

  /// The table's index is out of range only after some 0.2 s of other work, so that the batch has its slot,
  /// and the next ones follow it, when the device finds out. On the CPU this is at once.
  static std::string looked_up() {
    const std::string size = tests_cuda() ? "4096" : "4";
    const std::string rounds = tests_cuda() ? "60" : "2";
    return "w = torch.ones([" + size + ", " + size + "], device=x.device)\n    for i in range(" + rounds +
           "):\n        w = torch.mm(w, w) / float(" + size + ")\n    table = torch.arange(" +
           std::to_string(kValues) +
           ", device=x.device) * 3 + 1\n    return table[x] + (w[0, 0] * 0.0).to(4)";
  }

  /// What became of the slot of a batch; its seq is the batch's number + 1 in a ring that is new.
  static std::optional<ProducerState> state_of(const Ring& ring, std::uint64_t batch) {
    for (std::uint32_t s = 0; s < ring.geometry().slot_count; ++s)
      if (const ProducerWord word = ring.protocol().producer_word(SlotId{s}); word.seq == BatchSeq{batch + 1})
        return word.state;
    return std::nullopt;
  }
};

TEST_F(StickyError, EndsTheProducerWithOneLineThatNamesTheBatch) {
  auto& producer = run_producer();
  // On the CPU it is no more than an exception of the model.
  EXPECT_EQ(producer.wait(), tests_cuda() ? kExitGpu : kExitConfig) << producer.err();
  EXPECT_THAT(
      error_lines(producer),
      ElementsAre(AllOf(HasSubstr(kBadName),
                        HasSubstr(tests_cuda() ? "device-side assert" : "index 100000 is out of bounds"))));
}

TEST_F(StickyError, LetsTheBatchesBeforeItOutAndNoOther) {
  run_producer();
  read_published();
  EXPECT_EQ(batches(), all_batches(kBad));
}

TEST_F(StickyError, LeavesTheSlotToTheNextProducer) {
  if (!tests_cuda()) GTEST_SKIP() << "on the CPU a batch that fails has no slot yet";
  run_producer();
  const Ring ring = left_ring();
  EXPECT_EQ(state_of(ring, kBad), ProducerState::kFilling);
  read_published();  // a consumer at work changes nothing about it
  EXPECT_EQ(state_of(ring, kBad), ProducerState::kFilling);
}

TEST_F(StickyError, IsMadeGoodByTheNextProducer) {
  run_producer();
  mend();
  auto& producer = run_whole_pipeline();
  EXPECT_EQ(producer.wait(), kExitDone) << producer.err();
  EXPECT_EQ(batches(), all_batches());
  EXPECT_THAT(producer.err(), HasSubstr("going on with " + kBadName));
}

}  // namespace
}  // namespace tailrace
