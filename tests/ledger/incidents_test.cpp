#include "ledger/incidents.hpp"

#include <cerrno>

#include "ledger/database.hpp"
#include "ledger/group_ledger.hpp"
#include "ledger/transaction.hpp"
#include "tests/ledger/support.hpp"

namespace tailrace {
namespace {

using testing::at;
using ::testing::ElementsAre;
using testing::fault_of;
using testing::has_code;
using ::testing::IsEmpty;
using testing::job_of;
using testing::query;
using testing::record_of;

class IncidentsTest : public ::testing::Test {
 protected:
  IncidentsTest() { (void)Ledger::create(folder()); }

  std::string folder() const { return temporary_.path() / "state"; }
  /// "attempt pid what" of each.
  std::vector<std::string> failures(const std::string& group, std::uint64_t batch) const {
    std::vector<std::string> texts;
    for (const Failure& failure : failures_of(folder(), group, batch))
      texts.push_back(std::to_string(failure.attempt) + " " + std::to_string(failure.pid) + " " +
                      failure.what);
    return texts;
  }

  TempFolder temporary_;
};

TEST_F(IncidentsTest, AreReadInTheirOrderByGroupAndBatch) {
  note_failure(folder(), {"masks", 3, 1, 100, "wrong rank"});
  note_failure(folder(), {"masks", 4, 1, 100, "other batch"});
  note_failure(folder(), {"sums", 3, 1, 101, "other group"});
  note_failure(folder(), {"masks", 3, 2, 102, "line\nbreak '"});
  EXPECT_THAT(failures("masks", 3), ElementsAre("1 100 wrong rank", "2 102 line\nbreak '"));
}

TEST_F(IncidentsTest, OfAGroupThatHasNeverWrittenAreNone) { EXPECT_THAT(failures("new", 3), IsEmpty()); }

TEST_F(IncidentsTest, TellHowTheProcessEndedThatDied) {
  note_death(folder(), {100, "masks/0", "exit 70"});
  note_failure(folder(), {"masks", 3, 1, 100, "died"});
  note_death(folder(), {100, "masks/0", "signal 9 (SIGKILL)"});
  note_failure(folder(), {"masks", 3, 2, 102, "died"});
  EXPECT_THAT(failures("masks", 3), ElementsAre("1 100 signal 9 (SIGKILL)", "2 102 died"));
}

TEST_F(IncidentsTest, KeepTheReasonOfAProcessThatSaidOne) {
  note_failure(folder(), {"masks", 3, 1, 100, "wrong rank"});
  note_death(folder(), {100, "masks/0", "exit 1"});
  EXPECT_THAT(failures("masks", 3), ElementsAre("1 100 wrong rank"));
}

TEST_F(IncidentsTest, OfDeathsHaveARoleAndATime) {
  note_death(folder(), {100, "producer", "exit 70"});
  EXPECT_EQ(query(folder(), "SELECT pid || role || ended || (unix_time > 1700000000) FROM deaths"),
            "100producerexit 701");
}

TEST_F(IncidentsTest, AreNotNotedWhereThereIsNoLedger) {
  EXPECT_THAT(fault_of([&] { note_death(folder() + "/none", {1, "producer", "exit 1"}); }), has_code(ENOENT));
}

TEST_F(IncidentsTest, DoNotWaitLongForTheLock) {
  const Ledger ledger = Ledger::open(folder());
  const Transaction holder(ledger.database(), Transaction::Kind::kWrite);
  EXPECT_THAT(fault_of([&] { note_death(folder(), {1, "producer", "exit 1"}); }), has_code(EBUSY));
}

TEST_F(IncidentsTest, OfBatchesWhoseNumbersMeanOthersNowAreForgotten) {
  const std::vector<std::string> names(12, "name");
  (void)JobLedger(Ledger::open(folder())).begin(job_of(names), at(names), false);
  GroupLedger(Ledger::open(folder()), "masks").record(std::vector{record_of(4, ItemState::kSetAside)});
  for (const std::uint64_t batch : {0, 1}) note_failure(folder(), {"masks", batch, 1, 100, "wrong rank"});
  (void)JobLedger(Ledger::open(folder())).begin(job_of(names), at(names), false);
  EXPECT_EQ(failures("masks", 0).size(), 1U);
  JobIdentity other = job_of(names);
  other.items.batch_size = 3;
  (void)JobLedger(Ledger::open(folder())).begin(other, at(names), false);
  EXPECT_THAT(failures("masks", 0), IsEmpty());
  EXPECT_EQ(failures("masks", 1).size(), 1U) << "it says why the batch was set aside";
}

}  // namespace
}  // namespace tailrace
