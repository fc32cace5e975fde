#include "consumer/sinks/recording_sink.hpp"

#include <cerrno>
#include <stdexcept>

#include "ledger/job_ledger.hpp"
#include "tests/sinks/support.hpp"

namespace tailrace {
namespace {

using ::testing::ElementsAre;
using testing::TemporaryFolder;

/// Does what is wanted with the valid rows, and remembers which they were.
class ScriptedSink : public Sink {
 public:
  std::vector<ItemResult> process(const BatchView& batch) override {
    std::vector<std::uint64_t> valid;
    std::vector<ItemResult> results;
    for (const Row& row : batch.rows) {
      if (!row.valid()) continue;
      valid.push_back(row.item);
      results.push_back({row.item, {}, 1, {}});
    }
    seen.push_back(valid);
    if (refuses) throw FileError(ENOSPC, std::generic_category(), "full");
    return results;
  }

  bool refuses = false;
  std::vector<std::vector<std::uint64_t>> seen;
};

class RecordingSinkTest : public ::testing::Test {
 protected:
  RecordingSinkTest() {
    JobLedger(Ledger::create(folder_ / "state"))
        .begin({.pipeline = "p", .items = {.position_count = 4, .batch_size = 4}}, {}, false);
    batch_.rows.resize(4);
    for (std::uint64_t i = 0; i < 4; ++i) batch_.rows[i].item = i;
  }
  RecordingSink recording() { return {sink_, GroupLedger(Ledger::open(folder_ / "state"), "g")}; }

  TemporaryFolder folder_;
  ScriptedSink sink_;
  BatchView batch_;
  const RecordingSink::Singly set_aside_{
      [] {}, [](const Row&, const std::string&) { return std::vector<std::string>{"f"}; }};
};

TEST_F(RecordingSinkTest, DoesOnlyWhatTheLedgerDoesNotHave) {
  RecordingSink first = recording();
  first.set_aside(BatchNumber{0}, std::vector<std::uint64_t>{1}, 1, {}, "bad");
  EXPECT_FALSE(first.process(batch_, 1).found_done);
  EXPECT_TRUE(recording().process(batch_, 2).found_done);
  EXPECT_THAT(sink_.seen, ElementsAre(ElementsAre(0, 2, 3)));
}

TEST_F(RecordingSinkTest, DoesItemsAlone) {
  EXPECT_EQ(recording().process_singly(batch_, 3, set_aside_).items, 4U);
  EXPECT_THAT(sink_.seen, ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2), ElementsAre(3)));
}

TEST_F(RecordingSinkTest, DoesNotTakeAFullDiskForAnItemsFault) {
  RecordingSink sink = recording();
  sink_.refuses = true;
  for (std::uint32_t i = 0; i <= RecordingSink::kMaxTrials; ++i)
    EXPECT_THROW((void)sink.process_singly(batch_, 3, set_aside_), FileError);
  sink_.refuses = false;
  const auto outcome = sink.process_singly(batch_, 3, set_aside_);
  EXPECT_EQ(outcome.items, 4U);
  EXPECT_EQ(outcome.set_aside, 0U);
}

TEST_F(RecordingSinkTest, DoesNotTakeALedgerThatRefusesForAnItemsFault) {
  RecordingSink sink = recording();
  const RecordingSink::Singly refuses{[] {},
                                      [](const Row&, const std::string&) -> std::vector<std::string> {
                                        throw std::logic_error("nothing was to be set aside");
                                      }};
  // What the sink did cannot be written down, again and again.
  class Refusing : public ScriptedSink {
   public:
    std::vector<ItemResult> process(const BatchView& batch) override {
      (void)ScriptedSink::process(batch);
      throw LedgerError(ENOSPC, "full");
    }
  } refusing;
  RecordingSink other(refusing, GroupLedger(Ledger::open(folder_ / "state"), "g"));
  for (std::uint32_t i = 0; i <= RecordingSink::kMaxTrials; ++i)
    EXPECT_THROW((void)other.process_singly(batch_, 3, refuses), LedgerError);
  EXPECT_EQ(sink.process_singly(batch_, 3, refuses).items, 4U);
}

}  // namespace
}  // namespace tailrace
