#include "ledger/job_ledger.hpp"

#include <algorithm>
#include <filesystem>

#include "ledger/database.hpp"
#include "ledger/set_aside.hpp"
#include "tests/ledger/job_ledger_fixture.hpp"

namespace tailrace {
namespace {

using ::testing::AllOf;
using testing::at;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::job_of;
using testing::JobLedgerTest;
using testing::kMasks;
using testing::kNames;
using testing::Names;
using ::testing::Not;
using testing::query;
using testing::record_of;
using testing::with_sink;

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

TEST_F(JobLedgerTest, TellsHowTheJobStandsOnceOneHasBegun) {
  JobLedger ledger = job();
  EXPECT_FALSE(ledger.standing(kMasks));
  (void)ledger.begin(job_of(kNames), at(kNames), false);
  record("masks", {record_of(0, ItemState::kSetAside)});
  auto standing = ledger.standing(kMasks);
  ASSERT_TRUE(standing);
  EXPECT_EQ(standing->items, kNames.size());
  EXPECT_FALSE(standing->complete);
  EXPECT_EQ(standing->groups.at(0).set_aside, 1U);
  EXPECT_TRUE(ledger.mark_complete(0));
  EXPECT_TRUE(ledger.standing(kMasks)->complete);
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
