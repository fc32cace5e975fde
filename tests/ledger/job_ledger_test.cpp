#include "ledger/job_ledger.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "ledger/database.hpp"
#include "ledger/group_ledger.hpp"
#include "ledger/set_aside.hpp"
#include "tests/ledger/support.hpp"

namespace tailrace {
namespace {

using ::testing::AllOf;
using testing::at;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::job_of;
using ::testing::Not;
using testing::query;
using testing::record_of;

using Names = std::vector<std::string>;

const Names kNames{"a.jpg", "b.jpg", "c.jpg", "d.jpg", "e.jpg"};
const std::vector<std::string> kMasks{"masks"};

class JobLedgerTest : public ::testing::Test {
 protected:
  JobLedger job() const { return JobLedger(Ledger::create(folder())); }
  std::string folder() const { return temporary_.path() / "state"; }

  void record(const std::string& group, const std::vector<ItemRecord>& records) const {
    GroupLedger(Ledger::create(folder()), group).record(records);
  }
  /// The message of JobChanged; empty = none.
  std::string change_of(const JobIdentity& identity, const Names& names) const {
    try {
      (void)job().begin(identity, at(names), false);
    } catch (const JobChanged& changed) {
      return changed.what();
    }
    return {};
  }
  /// "group:item→row…", in order: `row` was set to the item's first index by record_of().
  std::string rows() const {
    return query(folder(), "SELECT group_concat(item || '<' || (batch * 4 + row)) FROM items");
  }

  TempFolder temporary_;
};

TEST_F(JobLedgerTest, IsFinishedWhereEveryGroupIs) {
  JobLedger ledger = job();
  (void)ledger.begin(job_of(kNames), at(kNames), false);
  record("masks", {record_of(0), record_of(1, ItemState::kSkipped), record_of(4)});
  record("sums", {record_of(1), record_of(2), record_of(4, ItemState::kSetAside)});
  EXPECT_THAT(ledger.finished(kMasks), ElementsAre(true, true, false, false, true));
  EXPECT_THAT(ledger.finished(std::vector<std::string>{"masks", "sums"}),
              ElementsAre(false, true, false, false, true));
}

TEST_F(JobLedgerTest, IsNotFinishedForAGroupThatHasNeverWritten) {
  JobLedger ledger = job();
  (void)ledger.begin(job_of(kNames), at(kNames), false);
  record("masks", {record_of(0)});
  EXPECT_THAT(ledger.finished(std::vector<std::string>{"masks", "new"}),
              ElementsAre(false, false, false, false, false));
}

TEST_F(JobLedgerTest, CountsTheRowsOfEachGroup) {
  JobLedger ledger = job();
  (void)ledger.begin(job_of(kNames), at(kNames), false);
  record("masks", {record_of(0), record_of(1, ItemState::kSkipped), record_of(3, ItemState::kSetAside)});
  record("sums", {record_of(0), record_of(1), record_of(2), record_of(3), record_of(4)});
  const auto totals = ledger.totals(std::vector<std::string>{"masks", "sums", "new"});
  ASSERT_EQ(totals.size(), 3U);
  EXPECT_EQ(totals[0].group, "masks");
  EXPECT_EQ(totals[0].done, 1U);
  EXPECT_EQ(totals[0].skipped, 1U);
  EXPECT_EQ(totals[0].set_aside, 1U);
  EXPECT_EQ(totals[0].missing, 2U);
  EXPECT_EQ(totals[0].first_missing, 2U);
  EXPECT_EQ(totals[1].missing, 0U);
  EXPECT_EQ(totals[1].first_missing, std::nullopt);
  EXPECT_EQ(totals[2].missing, 5U);
  EXPECT_EQ(totals[2].first_missing, 0U);
}

TEST_F(JobLedgerTest, OfAShardLooksAtTheItemsOfTheShardAlone) {
  const Names names{"b.jpg", "d.jpg"};
  JobIdentity identity = job_of(names);
  identity.items.shard_index = 1;
  identity.items.shard_count = 2;
  JobLedger ledger = job();
  (void)ledger.begin(identity, at(names), false);
  record("masks", {record_of(0), record_of(2), record_of(3), record_of(5)});
  EXPECT_THAT(ledger.finished(kMasks), ElementsAre(false, true));
  EXPECT_EQ(ledger.totals(kMasks).at(0).done, 1U);
  EXPECT_EQ(ledger.totals(kMasks).at(0).first_missing, 1U);
}

TEST_F(JobLedgerTest, WithoutItemsIsFinishedAtOnce) {
  JobLedger ledger = job();
  (void)ledger.begin(job_of({}), at({}), false);
  EXPECT_THAT(ledger.finished(kMasks), IsEmpty());
  EXPECT_EQ(ledger.totals(kMasks).at(0).missing, 0U);
}

TEST_F(JobLedgerTest, GoesOnWithTheSameListWithoutAskingForNames) {
  (void)job().begin(job_of(kNames), at(kNames), false);
  record("masks", {record_of(0)});
  JobLedger again = job();
  EXPECT_THAT(again.begin(job_of(kNames), nullptr, false), IsEmpty());
  EXPECT_THAT(again.finished(kMasks), ElementsAre(true, false, false, false, false));
}

TEST_F(JobLedgerTest, GoesOnWithAnotherBatchSize) {
  (void)job().begin(job_of(kNames), at(kNames), false);
  record("masks", {record_of(4)});
  JobIdentity other = job_of(kNames);
  other.items.batch_size = 1;
  JobLedger again = job();
  EXPECT_THAT(again.begin(other, nullptr, false), IsEmpty());
  EXPECT_TRUE(again.finished(kMasks).at(4));
  EXPECT_EQ(query(folder(), "SELECT batch_size FROM job"), "1");
}

TEST_F(JobLedgerTest, StoresTheNamesAnewForAnotherShard) {
  (void)job().begin(job_of(kNames), at(kNames), false);
  record("masks", {record_of(3)});
  const Names names{"b.jpg", "d.jpg"};
  JobIdentity shard = job_of(names);
  shard.items.shard_index = 1;
  shard.items.shard_count = 2;
  JobLedger again = job();
  EXPECT_THAT(again.begin(shard, at(names), false), IsEmpty());
  EXPECT_THAT(again.finished(kMasks), ElementsAre(false, true));
  EXPECT_EQ(query(folder(), "SELECT names FROM names"), std::string("b.jpg\0d.jpg\0", 12));
}

TEST_F(JobLedgerTest, BelongsToTheFirstPipeline) {
  (void)job().begin(job_of(kNames), at(kNames), false);
  JobIdentity other = job_of(kNames);
  other.pipeline = "other";
  EXPECT_THAT(change_of(other, kNames),
              AllOf(HasSubstr("'seg', not to 'other'"), HasSubstr(folder()), HasSubstr("pipeline.state")));
}

TEST_F(JobLedgerTest, SaysWhatChangedInTheList) {
  (void)job().begin(job_of(kNames), at(kNames), false);
  const Names names{"a.jpg", "aa\n.jpg", "b.jpg", "c.jpg", "f.jpg"};
  EXPECT_THAT(
      change_of(job_of(names, 2), names),
      AllOf(HasSubstr("2 items came (first: 'aa\\n.jpg'), 2 went (first: 'd.jpg'), 2 moved (first: 'b.jpg')"),
            HasSubstr(folder()), HasSubstr("--accept-changed-items")));
}

TEST_F(JobLedgerTest, SaysThatOnlyTheReadingOfTheItemsChanged) {
  (void)job().begin(job_of(kNames), at(kNames), false);
  EXPECT_THAT(change_of(job_of(kNames, 2), kNames), HasSubstr("the same names in the same order"));
}

TEST_F(JobLedgerTest, LeavesEverythingAsItWasWhereTheListIsRefused) {
  (void)job().begin(job_of(kNames), at(kNames), false);
  record("masks", {record_of(3)});
  (void)job().mark_complete(0);
  const Names names{"d.jpg"};
  EXPECT_NE(change_of(job_of(names, 2), names), "");
  EXPECT_TRUE(is_complete(folder()));
  EXPECT_EQ(rows(), "3<3");
  EXPECT_THAT(job().begin(job_of(kNames), nullptr, false), IsEmpty());
}

TEST_F(JobLedgerTest, MovesTheRowsOfAllGroupsWithTheirItems) {
  (void)job().begin(job_of(kNames), at(kNames), false);
  record("masks", {record_of(0), record_of(2), record_of(4)});
  record("sums", {record_of(4), record_of(1)});
  const Names names{"0.jpg", "e.jpg", "a.jpg", "b.jpg"};
  JobLedger again = job();
  (void)again.begin(job_of(names, 2), at(names), true);
  EXPECT_EQ(rows(), "1<4,2<0,1<4,3<1");
  EXPECT_THAT(again.finished(kMasks), ElementsAre(false, true, true, false));
  EXPECT_THAT(again.begin(job_of(names, 2), nullptr, false), IsEmpty());
}

TEST_F(JobLedgerTest, MovesRowsOfEqualNamesInTheirOrder) {
  const Names before{"x", "y", "x", "x"};
  (void)job().begin(job_of(before), at(before), false);
  record("masks", {record_of(2)});
  const Names after{"x", "x", "y"};
  (void)job().begin(job_of(after, 2), at(after), true);
  EXPECT_EQ(rows(), "1<2");
}

TEST_F(JobLedgerTest, GoesOnRecordingAfterItsRowsMoved) {
  (void)job().begin(job_of(kNames), at(kNames), false);
  GroupLedger masks(Ledger::create(folder()), "masks");
  masks.record(std::vector{record_of(4)});
  const Names names{"e.jpg", "f.jpg"};
  (void)job().begin(job_of(names, 2), at(names), true);
  masks.record(std::vector{record_of(1)});
  EXPECT_THAT(masks.finished(std::vector<std::uint64_t>{0, 1}), ElementsAre(true, true));
}

TEST_F(JobLedgerTest, AcceptsChangesBetweenShards) {
  const Names before{"b.jpg", "d.jpg"};
  JobIdentity odd = job_of(before);
  odd.items.shard_index = 1;
  odd.items.shard_count = 2;
  (void)job().begin(odd, at(before), false);
  record("masks", {record_of(0), record_of(3)});
  const Names after{"d.jpg", "x.jpg"};
  (void)job().begin(job_of(after, 2), at(after), true);
  EXPECT_EQ(rows(), "0<3");
}

TEST_F(JobLedgerTest, ForgetsTrialsOfItemsThatMayHaveMoved) {
  (void)job().begin(job_of(kNames), at(kNames), false);
  GroupLedger masks(Ledger::open(folder()), "masks");
  (void)masks.begin_trial(1);
  const Names names{"e.jpg"};
  (void)job().begin(job_of(names, 2), at(names), true);
  EXPECT_EQ(masks.begin_trial(1), 1U);
}

TEST_F(JobLedgerTest, KeepsItsBatchesWhereFilesHoldWholeOnes) {
  JobIdentity fixed = job_of(kNames);
  fixed.fixed_batches = true;
  (void)job().begin(fixed, at(kNames), false);
  JobIdentity other = fixed;
  other.items.batch_size = 2;
  EXPECT_EQ(change_of(other, kNames), "") << "there are no rows yet";
  record("masks", {record_of(0)});
  EXPECT_THAT(change_of(fixed, kNames), HasSubstr("source.batch_size"));
  JobIdentity longer = job_of(Names{"a.jpg", "b.jpg", "c.jpg", "new.jpg"}, 2);
  longer.fixed_batches = true;
  longer.items.batch_size = other.items.batch_size;
  const Names names{"a.jpg", "b.jpg", "c.jpg", "new.jpg"};
  EXPECT_THAT([&] { (void)job().begin(longer, at(names), true); },
              ::testing::ThrowsMessage<JobChanged>(::testing::AllOf(
                  HasSubstr("came"), HasSubstr("whole batches"), ::testing::Not(HasSubstr("batch_size")))));
  EXPECT_EQ(change_of(other, kNames), "");
}

TEST_F(JobLedgerTest, KeepsItsBatchesAlsoWhereTheGroupThatHoldsWholeOnesIsAway) {
  JobIdentity fixed = job_of(kNames);
  fixed.fixed_batches = true;
  (void)job().begin(fixed, at(kNames), false);
  record("masks", {record_of(0)});
  (void)job().begin(job_of(kNames), at(kNames), false);
  JobIdentity other = job_of(kNames);
  other.items.batch_size = 2;
  EXPECT_THAT(change_of(other, kNames), HasSubstr("source.batch_size"));
}

TEST_F(JobLedgerTest, HasAnIdThatChangesWithTheListAlone) {
  EXPECT_EQ(ledger_id(folder()), std::nullopt);
  (void)job().begin(job_of(kNames), at(kNames), false);
  const auto id = ledger_id(folder());
  ASSERT_TRUE(id);
  EXPECT_NE(*id, 0U);
  JobIdentity other = job_of(kNames);
  other.items.batch_size = 2;
  (void)job().begin(other, at(kNames), false);
  EXPECT_EQ(ledger_id(folder()), id);
  const Names names{"z.jpg"};
  (void)job().begin(job_of(names, 2), at(names), true);
  EXPECT_NE(ledger_id(folder()), id);
}

TEST_F(JobLedgerTest, RefusesAnotherListOfItemsWithoutNames) {
  JobIdentity identity = job_of(kNames);
  (void)job().begin(identity, nullptr, false);
  EXPECT_THAT(job().begin(identity, nullptr, false), IsEmpty());
  identity.list_digest = 2;
  EXPECT_THROW((void)job().begin(identity, nullptr, true), JobChanged);
  EXPECT_THROW((void)job().begin(identity, at(kNames), true), JobChanged);
}

TEST_F(JobLedgerTest, WarnsWhereAnotherModelMadeTheRows) {
  (void)job().begin(job_of(kNames), at(kNames), false);
  JobIdentity other = job_of(kNames);
  other.model_digest = 7;
  EXPECT_THAT(job().begin(other, nullptr, false), IsEmpty()) << "there are no rows yet";
  record("masks", {record_of(0)});
  EXPECT_THAT(job().begin(other, nullptr, false), IsEmpty());
  EXPECT_THAT(job().begin(job_of(kNames), nullptr, false), ElementsAre(HasSubstr("another model")));
  EXPECT_THAT(job().begin(other, nullptr, false), Not(IsEmpty())) << "the rows may be of either";
}

JobIdentity with_sink(JobIdentity job, const std::string& text) {
  job.sinks.push_back({"masks", text, [](const std::vector<std::string>& files) { return files; }});
  return job;
}

TEST_F(JobLedgerTest, WarnsWhereAnotherSinkMadeTheResults) {
  const auto warnings = [&](const std::string& sink) {
    return job().begin(with_sink(job_of(kNames), sink), at(kNames), false);
  };
  EXPECT_THAT(warnings("npy in 'a'"), IsEmpty());
  EXPECT_THAT(warnings("npy in 'b'"), IsEmpty()) << "there are no results yet";
  record("masks", {record_of(0)});
  EXPECT_THAT(warnings("npy in 'b'"), IsEmpty());
  EXPECT_THAT(warnings("png in 'b'"),
              ElementsAre(AllOf(HasSubstr("npy in 'b'"), HasSubstr("png in 'b'"), HasSubstr("stay as"))));
  EXPECT_THAT(warnings("png in 'b'"), ElementsAre(HasSubstr("by several sinks")));
}

class ReplacedFile : public JobLedgerTest {
 protected:
  /// The job of `names`, whose output names are their stems.
  static JobIdentity stems_of(const Names& names, std::uint64_t list_digest) {
    JobIdentity job = with_sink(job_of(names, list_digest), "png");
    job.output_name_at = [&names](std::uint64_t position) {
      return names.at(position).substr(0, names.at(position).rfind('.'));
    };
    return job;
  }
  void record_done(std::uint64_t item, const std::string& output_name) const {
    ItemRecord done = record_of(item);
    done.files = {output_name};
    record("masks", {done});
  }
};

TEST_F(ReplacedFile, IsRefusedWhereANewItemWouldGetItsName) {
  const Names before{"a.jpg"};
  (void)job().begin(stems_of(before, 1), at(before), false);
  record_done(0, "a");
  const Names after{"a.jpg", "a.png"};
  const auto accept = [&] { (void)job().begin(stems_of(after, 2), at(after), true); };
  for (int i = 0; i < 2; ++i)  // what was refused was not accepted either
    EXPECT_THAT(accept, ::testing::ThrowsMessage<JobChanged>(
                            AllOf(HasSubstr("'a.png' would get the name 'a'"), HasSubstr("'a.jpg'"))));
  EXPECT_EQ(rows(), "0<0");
}

TEST_F(ReplacedFile, MayBeThatOfTheItemItself) {
  const Names before{"a.jpg", "b.jpg"};
  (void)job().begin(stems_of(before, 1), at(before), false);
  record_done(0, "a");
  const Names after{"b.jpg", "a.jpg", "c.jpg"};
  EXPECT_NO_THROW((void)job().begin(stems_of(after, 2), at(after), true));
}

TEST_F(ReplacedFile, IsRefusedWhereItWasMadeForAnEarlierListButOne) {
  const Names first{"a.jpg"};
  (void)job().begin(stems_of(first, 1), at(first), false);
  record_done(0, "x");  // a name that only an earlier list explains
  const Names second{"a.jpg", "b.jpg"};
  (void)job().begin(stems_of(second, 2), at(second), true);
  const Names third{"a.jpg", "b.jpg", "x.jpg"};
  EXPECT_THROW((void)job().begin(stems_of(third, 3), at(third), true), JobChanged);
}

TEST_F(JobLedgerTest, IsNotMarkedCompleteWhereSomebodyHasHadItemsDoneAgain) {
  JobLedger ledger = job();
  (void)ledger.begin(job_of(kNames), at(kNames), false);
  record("masks", {record_of(0, ItemState::kSetAside)});
  const std::uint64_t before = ledger.retries();
  EXPECT_EQ(forget_set_aside(ledger.ledger(), "masks", 0), 1U);
  EXPECT_FALSE(ledger.mark_complete(before));
  EXPECT_FALSE(is_complete(folder()));
  EXPECT_TRUE(ledger.mark_complete(ledger.retries()));
  EXPECT_TRUE(is_complete(folder()));
}

TEST_F(JobLedgerTest, TakesALedgerThatWasMadeBeforeItsLaterTables) {
  (void)job().begin(job_of(kNames), at(kNames), false);
  job().ledger().database().run("DROP TABLE sinks");
  job().ledger().database().run("DROP TABLE retries");
  EXPECT_EQ(job().retries(), 0U);
  EXPECT_NO_THROW((void)job().begin(with_sink(job_of(kNames), "png"), at(kNames), false));
}

TEST_F(JobLedgerTest, IsCompleteFromItsMarkToTheNextStart) {
  EXPECT_FALSE(is_complete(folder())) << "there is none";
  JobLedger ledger = job();
  EXPECT_FALSE(is_complete(folder())) << "no job has begun";
  (void)ledger.begin(job_of(kNames), at(kNames), false);
  EXPECT_FALSE(is_complete(folder()));
  (void)ledger.mark_complete(0);
  EXPECT_TRUE(is_complete(folder()));
  (void)ledger.begin(job_of(kNames), nullptr, false);
  EXPECT_FALSE(is_complete(folder()));
}

TEST_F(JobLedgerTest, LeavesNoFileBehindWhenItIsAskedWhetherItIsComplete) {
  (void)job().begin(job_of(kNames), at(kNames), false);
  EXPECT_FALSE(is_complete(folder()));
  const auto files = std::filesystem::directory_iterator(folder());
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST_F(JobLedgerTest, AnswersForAMillionItems) {
  JobIdentity million = job_of({});
  million.items.position_count = 1'000'000;
  JobLedger ledger = job();
  (void)ledger.begin(
      million, [](std::uint64_t) { return std::string(); }, false);
  record("masks", {record_of(0)});
  Ledger::open(folder()).database().run(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 999998)"
      " INSERT INTO items SELECT group_id, i, state, batch, row, files, bytes, checksum, attempts, reason"
      " FROM n, items");
  const std::vector<bool> finished = ledger.finished(kMasks);
  EXPECT_EQ(std::count(finished.begin(), finished.end(), true), 999'999);
  EXPECT_EQ(ledger.totals(kMasks).at(0).first_missing, 999'999U);
}

TEST_F(JobLedgerTest, KeepsListsLongerThanAChunk) {
  Names names;
  for (int i = 0; i < 10000; ++i) names.push_back("item " + std::to_string(i));
  (void)job().begin(job_of(names), at(names), false);
  EXPECT_EQ(query(folder(), "SELECT group_concat(first_position) FROM names"), "0,4096,8192");
  Names fewer(names.begin() + 1, names.end());
  EXPECT_THAT(change_of(job_of(fewer, 2), fewer),
              HasSubstr("0 items came, 1 went (first: 'item 0'), 9999 moved"));
}

}  // namespace
}  // namespace tailrace
