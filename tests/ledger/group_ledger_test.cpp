#include "ledger/group_ledger.hpp"

#include <cerrno>
#include <limits>
#include <thread>

#include "tests/ledger/support.hpp"

namespace tailrace {
namespace {

using ::testing::ElementsAre;
using testing::fault_of;
using testing::has_code;
using testing::query;
using testing::record_of;

class GroupLedgerTest : public ::testing::Test {
 protected:
  GroupLedger group(const std::string& name = "masks") { return {Ledger::create(folder()), name}; }
  std::string folder() const { return temporary_.path() / "state"; }

  TempFolder temporary_;
};

using Items = std::vector<std::uint64_t>;

TEST_F(GroupLedgerTest, IsThroughWithWhatItRecordedInWhateverState) {
  GroupLedger masks = group();
  masks.record(
      std::vector{record_of(4), record_of(6, ItemState::kSkipped), record_of(7, ItemState::kSetAside)});
  EXPECT_THAT(masks.finished(Items{3, 4, 5, 6, 7, 8}), ElementsAre(false, true, false, true, true, false));
}

TEST_F(GroupLedgerTest, AsksForItemsFarApart) {
  GroupLedger masks = group();
  masks.record(std::vector{record_of(0), record_of(1), record_of(2), record_of(1000)});
  EXPECT_THAT(masks.finished(Items{1, 3, 1000, 1001}), ElementsAre(true, false, true, false));
  EXPECT_TRUE(masks.finished(Items{}).empty());
}

TEST_F(GroupLedgerTest, KnowsNothingOfOtherGroups) {
  GroupLedger masks = group();
  GroupLedger sums = group("sums");
  masks.record(std::vector{record_of(1)});
  EXPECT_THAT(sums.finished(Items{1}), ElementsAre(false));
}

TEST_F(GroupLedgerTest, FindsItsRowsAgain) {
  group().record(std::vector{record_of(1)});
  EXPECT_THAT(group().finished(Items{1}), ElementsAre(true));
}

TEST_F(GroupLedgerTest, SeesWhatItsOtherConsumersRecord) {
  GroupLedger one = group();
  GroupLedger other = group();
  one.record(std::vector{record_of(1)});
  EXPECT_THAT(other.finished(Items{1, 2}), ElementsAre(true, false));
}

TEST_F(GroupLedgerTest, TakesRowsFromThreadsThatEachHaveAConnection) {
  const auto record_all = [&](std::uint64_t first) {
    GroupLedger masks = group();
    for (std::uint64_t item = first; item < 200; item += 2) masks.record(std::vector{record_of(item)});
  };
  std::thread odd(record_all, 1);
  record_all(0);
  odd.join();
  EXPECT_EQ(query(folder(), "SELECT count(*) FROM items"), "200");
}

TEST_F(GroupLedgerTest, KeepsTheFirstRowOfAnItem) {
  GroupLedger masks = group();
  masks.record(std::vector{record_of(1, ItemState::kSetAside)});
  masks.record(std::vector{record_of(1), record_of(2)});
  EXPECT_EQ(query(folder(), "SELECT group_concat(state) FROM items"), "3,1");
}

TEST_F(GroupLedgerTest, StoresEveryField) {
  ItemRecord record{.item = 9,
                    .state = ItemState::kSetAside,
                    .batch = 2,
                    .row = 1,
                    .files = {"/out/a \"b\".png", "/out/line\nbreak"},
                    .bytes = 123456789012,
                    .checksum = 0xfedcba9876543210,
                    .attempts = 3,
                    .reason = "died"};
  group().record(std::vector{record});
  EXPECT_EQ(
      query(folder(),
            "SELECT printf('%d|%d|%d|%d|%d|%x|%d|%s', item, state, batch, row, bytes, checksum, attempts,"
            " reason) FROM items"),
      "9|3|2|1|123456789012|fedcba9876543210|3|died");
  EXPECT_EQ(query(folder(), "SELECT files FROM items"), R"(["/out/a \"b\".png","/out/line\nbreak"])");
}

TEST_F(GroupLedgerTest, LeavesEmptyFieldsNull) {
  group().record(std::vector{record_of(1)});
  EXPECT_EQ(query(folder(), "SELECT (files IS NULL) + (checksum IS NULL) + (reason IS NULL) FROM items"),
            "3");
}

TEST_F(GroupLedgerTest, TakesFileNamesThatAreNoUtf8) {
  ItemRecord record = record_of(1);
  record.files = {"/out/\xff.png"};
  group().record(std::vector{record});
  EXPECT_EQ(query(folder(), "SELECT files FROM items"), "[\"/out/\xef\xbf\xbd.png\"]");
}

TEST_F(GroupLedgerTest, TakesAnyNameOfAGroup) {
  const std::string name = "'; DROP TABLE items; --\n";
  group(name).record(std::vector{record_of(1)});
  EXPECT_EQ(query(folder(), "SELECT name FROM groups"), name);
}

TEST_F(GroupLedgerTest, CountsTrialsThatDidNotEnd) {
  EXPECT_EQ(group().begin_trial(3), 1U);
  GroupLedger masks = group();
  EXPECT_EQ(masks.begin_trial(3), 2U);
  EXPECT_EQ(masks.begin_trial(4), 1U) << "another item";
  EXPECT_EQ(group("sums").begin_trial(3), 1U) << "another group";
  masks.end_trial(3);
  EXPECT_EQ(masks.begin_trial(3), 1U);
}

TEST_F(GroupLedgerTest, RefusesNumbersThatDoNotFitAndStaysUsable) {
  GroupLedger masks = group();
  const std::vector wild{record_of(1), record_of(std::numeric_limits<std::uint64_t>::max())};
  EXPECT_THAT(fault_of([&] { masks.record(wild); }), has_code(EOVERFLOW));
  EXPECT_THAT(masks.finished(Items{1}), ElementsAre(false)) << "half of a transaction is there";
  masks.record(std::vector{record_of(2)});
  EXPECT_THAT(masks.finished(Items{1, 2}), ElementsAre(false, true));
}

}  // namespace
}  // namespace tailrace
