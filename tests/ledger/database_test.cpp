#include "ledger/database.hpp"

#include <cerrno>
#include <chrono>
#include <optional>

#include "ledger/transaction.hpp"
#include "tests/ledger/support.hpp"

namespace tailrace {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using testing::fault_of;
using testing::has_code;
using ::testing::HasSubstr;
using Kind = Transaction::Kind;

class DatabaseTest : public ::testing::Test {
 protected:
  DatabaseTest() { database_.run("CREATE TABLE t(x)"); }

  std::int64_t count() { return database_.integer("SELECT count(*) FROM t"); }

  TempFolder folder_;
  const std::string path_ = folder_.write("db", "");
  Database database_{path_, Database::Access::kWrite, {}};
};

TEST_F(DatabaseTest, KeepsNothingOfATransactionThatDidNotCommit) {
  {
    Transaction transaction(database_, Kind::kWrite);
    database_.run("INSERT INTO t VALUES(1)");
  }
  EXPECT_EQ(count(), 0);
  Transaction transaction(database_, Kind::kWrite);
  database_.run("INSERT INTO t VALUES(1)");
  transaction.commit();
  EXPECT_EQ(count(), 1);
}

TEST_F(DatabaseTest, CanBeUsedAgainAfterAFailedTransaction) {
  EXPECT_THAT(fault_of([&] {
                Transaction transaction(database_, Kind::kWrite);
                database_.run("INSERT INTO t VALUES(1)");
                database_.run("INSERT INTO nowhere VALUES(1)");
              }),
              AllOf(has_code(EIO), HasSubstr("no such table: nowhere"), HasSubstr(path_)));
  Transaction(database_, Kind::kWrite).commit();
  EXPECT_EQ(count(), 0);
}

TEST_F(DatabaseTest, CallsAFullDiskByTheSystemsNameAndGoesOnAfterIt) {
  database_.run("PRAGMA max_page_count = 4");
  EXPECT_THAT(fault_of([&] {
                Transaction transaction(database_, Kind::kWrite);
                database_.run("INSERT INTO t VALUES(zeroblob(100000))");
                transaction.commit();
              }),
              AllOf(has_code(ENOSPC), HasSubstr(path_)));
  database_.run("INSERT INTO t VALUES(1)");
  EXPECT_EQ(count(), 1);
}

TEST_F(DatabaseTest, RunsTheSameStatementTwiceAtOnce) {
  database_.run("INSERT INTO t VALUES(1), (2)");
  Statement outer = database_.prepare("SELECT x FROM t ORDER BY x");
  ASSERT_TRUE(outer.step());
  Statement inner = database_.prepare("SELECT x FROM t ORDER BY x");
  ASSERT_TRUE(inner.step());
  ASSERT_TRUE(outer.step());
  EXPECT_EQ(outer.integer(0), 2);
  EXPECT_EQ(inner.integer(0), 1);
}

TEST_F(DatabaseTest, ForgetsTheParametersOfAStatementAfterItsUse) {
  database_.prepare("INSERT INTO t VALUES(?)").bind(std::string("x")).run();
  database_.prepare("INSERT INTO t VALUES(?)").run();
  EXPECT_EQ(database_.integer("SELECT count(*) FROM t WHERE x IS NULL"), 1);
}

TEST_F(DatabaseTest, GivesUpWaitingForALockWhenItIsToldTo) {
  const Transaction holder(database_, Kind::kWrite);
  std::vector<milliseconds> asked;
  Database other(path_, Database::Access::kWrite, [&](milliseconds waited) {
    asked.push_back(waited);
    return false;
  });
  EXPECT_THAT(fault_of([&] { Transaction(other, Kind::kWrite); }),
              AllOf(has_code(EBUSY), HasSubstr("another process has held its lock")));
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_GE(asked[0], milliseconds(900));
}

TEST_F(DatabaseTest, GetsALockThatIsReleasedWhileItWaits) {
  std::optional<Transaction> holder(std::in_place, database_, Kind::kWrite);
  Database other(path_, Database::Access::kWrite, [&](milliseconds) {
    holder.reset();
    return true;
  });
  Transaction transaction(other, Kind::kWrite);
  other.run("INSERT INTO t VALUES(1)");
  transaction.commit();
  EXPECT_EQ(count(), 1);
}

TEST_F(DatabaseTest, ReadsAsOfOneMoment) {
  database_.run("PRAGMA journal_mode = WAL");
  Transaction transaction(database_, Kind::kRead);
  EXPECT_EQ(count(), 0);
  Database(path_, Database::Access::kWrite, {}).run("INSERT INTO t VALUES(1)");
  EXPECT_EQ(count(), 0);
  transaction.commit();
  EXPECT_EQ(count(), 1);
}

}  // namespace
}  // namespace tailrace
