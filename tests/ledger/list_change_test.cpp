#include "ledger/list_change.hpp"

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
using testing::record_of;
using testing::with_sink;

class ListChange : public JobLedgerTest {};

TEST_F(ListChange, SaysWhatChangedInTheList) {
  (void)job().begin(job_of(kNames), at(kNames), false);
  const Names names{"a.jpg", "aa\n.jpg", "b.jpg", "c.jpg", "f.jpg"};
  EXPECT_THAT(
      change_of(job_of(names, 2), names),
      AllOf(HasSubstr("2 items came (first: 'aa\\n.jpg'), 2 went (first: 'd.jpg'), 2 moved (first: 'b.jpg')"),
            HasSubstr(folder()), HasSubstr("--accept-changed-items")));
}

TEST_F(ListChange, SaysThatOnlyTheReadingOfTheItemsChanged) {
  (void)job().begin(job_of(kNames), at(kNames), false);
  EXPECT_THAT(change_of(job_of(kNames, 2), kNames), HasSubstr("the same names in the same order"));
}

TEST_F(ListChange, LeavesEverythingAsItWasWhereTheListIsRefused) {
  (void)job().begin(job_of(kNames), at(kNames), false);
  record("masks", {record_of(3)});
  (void)job().mark_complete(0);
  const Names names{"d.jpg"};
  EXPECT_NE(change_of(job_of(names, 2), names), "");
  EXPECT_TRUE(is_complete(folder()));
  EXPECT_EQ(rows(), "3<3");
  EXPECT_THAT(job().begin(job_of(kNames), nullptr, false), IsEmpty());
}

TEST_F(ListChange, MovesTheRowsOfAllGroupsWithTheirItems) {
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

TEST_F(ListChange, MovesRowsOfEqualNamesInTheirOrder) {
  const Names before{"x", "y", "x", "x"};
  (void)job().begin(job_of(before), at(before), false);
  record("masks", {record_of(2)});
  const Names after{"x", "x", "y"};
  (void)job().begin(job_of(after, 2), at(after), true);
  EXPECT_EQ(rows(), "1<2");
}

TEST_F(ListChange, GoesOnRecordingAfterItsRowsMoved) {
  (void)job().begin(job_of(kNames), at(kNames), false);
  GroupLedger masks(Ledger::create(folder()), "masks");
  masks.record(std::vector{record_of(4)});
  const Names names{"e.jpg", "f.jpg"};
  (void)job().begin(job_of(names, 2), at(names), true);
  masks.record(std::vector{record_of(1)});
  EXPECT_THAT(masks.finished(std::vector<std::uint64_t>{0, 1}), ElementsAre(true, true));
}

TEST_F(ListChange, AcceptsChangesBetweenShards) {
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

TEST_F(ListChange, ForgetsTrialsOfItemsThatMayHaveMoved) {
  (void)job().begin(job_of(kNames), at(kNames), false);
  GroupLedger masks(Ledger::open(folder()), "masks");
  (void)masks.begin_trial(1);
  const Names names{"e.jpg"};
  (void)job().begin(job_of(names, 2), at(names), true);
  EXPECT_EQ(masks.begin_trial(1), 1U);
}

TEST_F(ListChange, KeepsItsBatchesWhereFilesHoldWholeOnes) {
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

TEST_F(ListChange, KeepsItsBatchesAlsoWhereTheGroupThatHoldsWholeOnesIsAway) {
  JobIdentity fixed = job_of(kNames);
  fixed.fixed_batches = true;
  (void)job().begin(fixed, at(kNames), false);
  record("masks", {record_of(0)});
  (void)job().begin(job_of(kNames), at(kNames), false);
  JobIdentity other = job_of(kNames);
  other.items.batch_size = 2;
  EXPECT_THAT(change_of(other, kNames), HasSubstr("source.batch_size"));
}

TEST_F(ListChange, HasAnIdThatChangesWithTheListAlone) {
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

TEST_F(ListChange, RefusesAnotherListOfItemsWithoutNames) {
  JobIdentity identity = job_of(kNames);
  (void)job().begin(identity, nullptr, false);
  EXPECT_THAT(job().begin(identity, nullptr, false), IsEmpty());
  identity.list_digest = 2;
  EXPECT_THROW((void)job().begin(identity, nullptr, true), JobChanged);
  EXPECT_THROW((void)job().begin(identity, at(kNames), true), JobChanged);
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

}  // namespace
}  // namespace tailrace
