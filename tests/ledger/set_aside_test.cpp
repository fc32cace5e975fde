#include "ledger/set_aside.hpp"

#include <filesystem>
#include <fstream>

#include "ledger/group_ledger.hpp"
#include "ledger/incidents.hpp"
#include "tests/ledger/support.hpp"

namespace tailrace {
namespace {

using testing::at;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::job_of;
using testing::query;
using testing::record_of;

class SetAsideTest : public ::testing::Test {
 protected:
  SetAsideTest() {
    const std::vector<std::string> names{"a", "b", "c", "d", "e", "f"};
    JobLedger job(Ledger::create(folder()));
    (void)job.begin(job_of(names), at(names), false);
    (void)job.mark_complete(0);
    GroupLedger masks(Ledger::open(folder()), "masks");
    masks.record(std::vector{record_of(0), set_aside(1, "wrong rank"), set_aside(2, "wrong rank"),
                             set_aside(4, "died")});
    GroupLedger(Ledger::open(folder()), "a").record(std::vector{set_aside(5, "died"), set_aside(99, "died")});
  }

  static ItemRecord set_aside(std::uint64_t item, const std::string& reason) {
    ItemRecord record = record_of(item, ItemState::kSetAside);
    record.reason = reason;
    record.attempts = 3;
    record.files = {"/q/batch-" + std::to_string(record.batch) + "/reason.json"};
    return record;
  }
  std::string folder() const { return temporary_.path() / "state"; }

  TempFolder temporary_;
};

TEST_F(SetAsideTest, ListsBatchesByGroupAndNumber) {
  Ledger ledger = Ledger::open_to_read(folder());
  const auto batches = set_aside_batches(ledger);
  ASSERT_EQ(batches.size(), 4U);
  EXPECT_EQ(batches[0].group, "a");
  EXPECT_EQ(batches[0].batch, 1U);
  EXPECT_EQ(batches[2].group, "masks");
  EXPECT_EQ(batches[2].batch, 0U);
  EXPECT_THAT(batches[2].items, ElementsAre(1, 2));
  EXPECT_THAT(batches[2].names, ElementsAre("b", "c"));
  EXPECT_EQ(batches[2].attempts, 3U);
  EXPECT_EQ(batches[2].reason, "wrong rank");
  EXPECT_THAT(batches[2].files, ElementsAre("/q/batch-0/reason.json"));
}

TEST_F(SetAsideTest, HasNoNamesForItemsThatAreNotInTheJob) {
  Ledger ledger = Ledger::open_to_read(folder());
  EXPECT_THAT(set_aside_batches(ledger).at(1).names, ElementsAre(""));
}

TEST_F(SetAsideTest, ForgetsABatchSoThatItIsDoneAgain) {
  note_failure(folder(), {"masks", 0, 1, 100, "wrong rank"});
  note_failure(folder(), {"masks", 1, 1, 100, "died"});
  Ledger ledger = Ledger::open(folder());
  EXPECT_EQ(forget_set_aside(ledger, "masks", 0), 2U);
  EXPECT_FALSE(is_complete(folder()));
  EXPECT_THAT(failures_of(folder(), "masks", 0), IsEmpty());
  EXPECT_EQ(failures_of(folder(), "masks", 1).size(), 1U);
  EXPECT_THAT(GroupLedger(Ledger::open(folder()), "masks").finished(std::vector<std::uint64_t>{0, 1, 2, 4}),
              ElementsAre(true, false, false, true));
}

TEST_F(SetAsideTest, ForgetsWhatCouldNotBeRead) {
  GroupLedger masks(Ledger::open(folder()), "masks");
  masks.record(std::vector{record_of(3, ItemState::kSkipped)});
  Ledger ledger = Ledger::open(folder());
  EXPECT_EQ(forget_skipped(ledger, "a"), 0U);
  EXPECT_TRUE(is_complete(folder()));
  EXPECT_EQ(forget_skipped(ledger, "masks"), 1U);
  EXPECT_FALSE(is_complete(folder()));
  EXPECT_EQ(masks.finished(std::vector<std::uint64_t>{0, 1, 2, 3}),
            (std::vector<bool>{true, true, true, false}));
}

TEST_F(SetAsideTest, DoesNotForgetHowOftenOtherItemsWereTriedAlone) {
  GroupLedger masks(Ledger::open(folder()), "masks");
  (void)masks.begin_trial(3);
  (void)masks.begin_trial(1);
  Ledger ledger = Ledger::open(folder());
  EXPECT_EQ(forget_set_aside(ledger, "masks", 0), 2U);
  EXPECT_EQ(masks.begin_trial(3), 2U) << "another consumer may be at it";
  EXPECT_EQ(masks.begin_trial(1), 1U);
}

TEST_F(SetAsideTest, RemovesWhatWasSavedOfBatchesThatWereDoneAfterAll) {
  namespace fs = std::filesystem;
  const fs::path saved = fs::path(folder()) / "quarantine";
  GroupLedger masks(Ledger::open(folder()), "masks");
  for (const char* batch : {"0", "1", "2"}) {
    const fs::path file = saved / "masks" / ("batch-" + std::string(batch)) / "slot.bin";
    fs::create_directories(file.parent_path());
    std::ofstream(file) << "bytes";
    ItemRecord record = set_aside(20 + batch[0] - '0', "died");
    record.batch = static_cast<std::uint64_t>(batch[0] - '0') + 10;
    record.files = {file};
    masks.record(std::vector{record});
  }
  Ledger ledger = Ledger::open(folder());
  remove_settled_batches(ledger, folder());
  EXPECT_TRUE(fs::exists(saved / "masks" / "batch-2"));
  EXPECT_EQ(forget_set_aside(ledger, "masks", 12), 1U);
  EXPECT_TRUE(fs::exists(saved / "masks" / "batch-2")) << "not before it is done";
  remove_settled_batches(ledger, folder());
  EXPECT_FALSE(fs::exists(saved / "masks" / "batch-2"));
  EXPECT_TRUE(fs::exists(saved / "masks" / "batch-1"));
}

TEST_F(SetAsideTest, ForgetsNothingElse) {
  Ledger ledger = Ledger::open(folder());
  EXPECT_EQ(forget_set_aside(ledger, "masks", 7), 0U);
  EXPECT_EQ(forget_set_aside(ledger, "nobody", 0), 0U);
  EXPECT_EQ(query(folder(), "SELECT count(*) FROM items"), "6");
  EXPECT_TRUE(is_complete(folder()));
}

}  // namespace
}  // namespace tailrace
