#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <thread>

#include "ledger/database.hpp"
#include "ledger/group_ledger.hpp"
#include "ledger/transaction.hpp"
#include "tests/files/child.hpp"
#include "tests/ledger/support.hpp"

namespace tailrace {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using testing::fault_of;
using testing::has_code;
using ::testing::HasSubstr;
using testing::in_child;
using testing::query;
using testing::record_of;
using testing::start;

constexpr std::uint64_t kRowsPerBatch = 16;

std::vector<ItemRecord> batch_of(std::uint64_t number) {
  std::vector<ItemRecord> records;
  for (std::uint64_t row = 0; row < kRowsPerBatch; ++row) {
    records.push_back(record_of(number * kRowsPerBatch + row));
    records.back().batch = number;
    records.back().reason.assign(200, 'x');
  }
  return records;
}

class LedgerProcessTest : public ::testing::Test {
 protected:
  std::string folder() const { return temporary_.path() / "state"; }

  void record_for_ever(const std::string& group) const {
    GroupLedger ledger(Ledger::create(folder()), group);
    for (std::uint64_t number = 0;; ++number) ledger.record(batch_of(number));
  }
  /// Batches of which some rows are there and others not.
  std::string half_batches() const {
    return query(folder(),
                 "SELECT count(*) FROM (SELECT count(*) AS rows FROM items GROUP BY group_id, batch)"
                 " WHERE rows <> 16");
  }

  TempFolder temporary_;
};

void kill_and_reap(pid_t child, int signal = SIGKILL) {
  ::kill(child, signal);
  ::waitpid(child, nullptr, 0);
}

/// Waits for a byte from a child.
class Signpost {
 public:
  Signpost() { EXPECT_EQ(::pipe(ends_.data()), 0); }
  ~Signpost() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  void reached() const { (void)!::write(ends_[1], "x", 1); }
  void wait() const {
    char byte = 0;
    EXPECT_EQ(::read(ends_[0], &byte, 1), 1);
  }

 private:
  std::array<int, 2> ends_{};
};

TEST_F(LedgerProcessTest, LosesNothingThatWasRecordedWhenItsWriterIsKilled) {
  const Signpost recorded;
  const pid_t child = start([&] {
    GroupLedger ledger(Ledger::create(folder()), "masks");
    ledger.record(batch_of(0));
    recorded.reached();
    for (;;) ::pause();
  });
  recorded.wait();
  kill_and_reap(child);
  EXPECT_EQ(query(folder(), "SELECT count(*) FROM items"), "16");
}

TEST_F(LedgerProcessTest, HoldsWholeBatchesOnlyWhenItsWritersAreKilledAtAnyMoment) {
  for (int round = 0; round < 20; ++round) {
    const std::array children{start([&] { record_for_ever("masks"); }),
                              start([&] { record_for_ever("sums"); })};
    // Moments from the making of the file to thousands of rows: longer each time.
    std::this_thread::sleep_for(std::chrono::milliseconds(round * 3));
    for (const pid_t child : children) kill_and_reap(child);
    (void)Ledger::create(folder());
    ASSERT_EQ(half_batches(), "0") << "round " << round;
    ASSERT_EQ(query(folder(), "PRAGMA integrity_check"), "ok") << "round " << round;
  }
}

TEST_F(LedgerProcessTest, HoldsTheRowsOfOneListOnlyWhenAChangeOfListIsKilled) {
  constexpr std::uint64_t kCount = 5000;
  const auto begin = [&](std::uint64_t digest) {  // list 1 is in order, list 2 the other way round
    JobIdentity job = testing::job_of({}, digest);
    job.items.position_count = kCount;
    const auto name_at = [&](std::uint64_t p) { return std::to_string(digest == 1 ? p : kCount - 1 - p); };
    (void)JobLedger(Ledger::create(folder())).begin(job, name_at, true);
  };
  begin(1);
  std::vector<ItemRecord> records;
  for (std::uint64_t item = 0; item < kCount; ++item) records.push_back(record_of(item));
  GroupLedger(Ledger::open(folder()), "masks").record(records);
  for (int round = 0; round < 15; ++round) {
    const pid_t child = start([&] {
      for (std::uint64_t i = 0;; ++i) begin(1 + i % 2);
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(10 + round * 7));
    kill_and_reap(child);
    // record_of() has put the item's first index into batch and row.
    ASSERT_EQ(query(folder(),
                    "SELECT count(*) FILTER (WHERE item = CASE list_digest WHEN 1 THEN batch * 4 + row"
                    " ELSE item_count - 1 - batch * 4 - row END) FROM items, job"),
              std::to_string(kCount))
        << "round " << round;
  }
}

TEST_F(LedgerProcessTest, IsMadeOnceByManyAtATime) {
  std::vector<pid_t> children;
  for (int i = 0; i < 6; ++i)
    children.push_back(start(
        [&, i] { GroupLedger(Ledger::create(folder()), "group" + std::to_string(i)).record(batch_of(0)); }));
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(query(folder(), "SELECT count(DISTINCT group_id) || ' ' || count(*) FROM items"), "6 96");
}

TEST_F(LedgerProcessTest, TakesRowsFromSeveralProcessesAtOnce) {
  std::vector<pid_t> children;
  for (std::uint64_t i = 0; i < 4; ++i)
    children.push_back(start([&, i] {
      GroupLedger ledger(Ledger::create(folder()), "masks");
      for (std::uint64_t number = 0; number < 100; ++number) ledger.record(batch_of(4 * number + i));
    }));
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(query(folder(), "SELECT count(*) FROM items"), "6400");
}

TEST_F(LedgerProcessTest, WaitsForAProcessThatIsStoppedWithTheLock) {
  const Signpost locked;
  const pid_t child = start([&] {
    const Ledger ledger = Ledger::create(folder());
    Transaction transaction(ledger.database(), Transaction::Kind::kWrite);
    ledger.database().run("INSERT INTO groups(name) VALUES('stopped')");
    locked.reached();
    ::raise(SIGSTOP);
    transaction.commit();
  });
  locked.wait();
  ::waitpid(child, nullptr, WUNTRACED);
  const auto keep_waiting = [&](std::chrono::milliseconds) {
    ::kill(child, SIGCONT);
    return true;
  };
  GroupLedger ledger(Ledger::open(folder(), keep_waiting), "masks");
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(query(folder(), "SELECT group_concat(name) FROM groups ORDER BY id"), "stopped,masks");
}

TEST_F(LedgerProcessTest, GetsTheLockOfAProcessThatIsKilledWithIt) {
  const Signpost locked;
  const pid_t child = start([&] {
    const Ledger ledger = Ledger::create(folder());
    const Transaction transaction(ledger.database(), Transaction::Kind::kWrite);
    ledger.database().run("INSERT INTO groups(name) VALUES('dead')");
    locked.reached();
    for (;;) ::pause();
  });
  locked.wait();
  const auto keep_waiting = [&](std::chrono::milliseconds) {
    kill_and_reap(child);
    return true;
  };
  const GroupLedger ledger(Ledger::open(folder(), keep_waiting), "masks");
  EXPECT_EQ(query(folder(), "SELECT group_concat(name) FROM groups"), "masks");
}

/// Records until the file may not grow; gives the error, then what a smaller transaction says once it may
/// again.
std::string record_to_the_limit(const std::string& folder) {
  GroupLedger ledger(Ledger::create(folder), "masks");
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = 1 << 20;
  ::setrlimit(RLIMIT_FSIZE, &limit);
  std::uint64_t number = 0;
  const std::string fault = fault_of([&] {
    for (;; ++number) ledger.record(batch_of(number));
  });
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_FSIZE, &limit);
  ledger.record(batch_of(number));
  return fault + " recorded " + std::to_string(number + 1);
}

TEST_F(LedgerProcessTest, TakesAFileSizeLimitAsAnErrorAndGoesOnAfterIt) {
  const std::string result = in_child([&] { return record_to_the_limit(folder()); });
  EXPECT_THAT(result, AllOf(has_code(EFBIG), HasSubstr(folder()), HasSubstr("recorded")));
  const std::string recorded = result.substr(result.rfind(' ') + 1);
  EXPECT_EQ(query(folder(), "SELECT count(*) / 16 FROM items"), recorded);
  EXPECT_EQ(half_batches(), "0");
}

TEST_F(LedgerProcessTest, TakesAFileSizeLimitAtItsMakingAsAnError) {
  for (const rlim_t bytes : {rlim_t{0}, rlim_t{1000}, rlim_t{10000}, rlim_t{30000}}) {
    const std::string result = in_child([&] {
      const rlimit limit{bytes, RLIM_INFINITY};
      ::setrlimit(RLIMIT_FSIZE, &limit);
      return fault_of([&] { Ledger::create(folder()); });
    });
    EXPECT_THAT(result, AllOf(has_code(EFBIG), HasSubstr(folder()))) << bytes;
  }
  (void)Ledger::create(folder());
}

/// What `body` says as a user who is neither root nor the folder's owner.
std::string as_a_stranger(const std::function<std::string()>& body) {
  return in_child([&] {
    if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) return std::string("no other user");
    return body();
  });
}

TEST_F(LedgerProcessTest, NamesAFolderThatMayNotBeWritten) {
  fs::create_directories(folder());
  fs::permissions(folder(), fs::perms(0555));
  fs::permissions(temporary_.path(), fs::perms(0755));
  const std::string result = as_a_stranger([&] { return fault_of([&] { Ledger::create(folder()); }); });
  if (result == "no other user") GTEST_SKIP() << "cannot become another user";
  EXPECT_THAT(result, AllOf(has_code(EACCES), HasSubstr(folder())));
}

TEST_F(LedgerProcessTest, NamesAFileThatMayNotBeWritten) {
  (void)Ledger::create(folder());
  fs::permissions(temporary_.path(), fs::perms(0755));
  fs::permissions(folder(), fs::perms(0555));
  fs::permissions(ledger_path(folder()), fs::perms(0444));
  const std::string result = as_a_stranger([&] { return fault_of([&] { Ledger::open(folder()); }); });
  if (result == "no other user") GTEST_SKIP() << "cannot become another user";
  EXPECT_THAT(result, AllOf(has_code(EACCES), HasSubstr("must be able to write")));
}

TEST_F(LedgerProcessTest, IsReadByThoseWhoMayNotWriteItWhileItIsInUse) {
  const Signpost recorded;
  const pid_t child = start([&] {
    GroupLedger ledger(Ledger::create(folder()), "masks");
    ledger.record(batch_of(0));
    fs::permissions(folder(), fs::perms(0755));
    fs::permissions(temporary_.path(), fs::perms(0755));
    for (const char* suffix : {"", "-wal", "-shm"})
      fs::permissions(ledger_path(folder()) + suffix, fs::perms(0644));
    recorded.reached();
    for (;;) ::pause();
  });
  recorded.wait();
  const std::string result = as_a_stranger([&] { return query(folder(), "SELECT count(*) FROM items"); });
  kill_and_reap(child);
  if (result == "no other user") GTEST_SKIP() << "cannot become another user";
  EXPECT_EQ(result, "16");
}

TEST_F(LedgerProcessTest, IsReadByThoseWhoMayNotWriteItWhileNobodyHasItOpen) {
  const std::string odd = temporary_.path() / "100% sure? #1";
  GroupLedger(Ledger::create(odd), "masks").record(batch_of(0));
  fs::permissions(temporary_.path(), fs::perms(0755));
  fs::permissions(odd, fs::perms(0555));
  fs::permissions(ledger_path(odd), fs::perms(0444));
  const std::string result = as_a_stranger([&] { return query(odd, "SELECT count(*) FROM items"); });
  if (result == "no other user") GTEST_SKIP() << "cannot become another user";
  EXPECT_EQ(result, "16");
}

TEST_F(LedgerProcessTest, NamesAFolderThatTakesNoLogBesideTheFile) {
  (void)Ledger::create(folder());
  fs::permissions(temporary_.path(), fs::perms(0755));
  fs::permissions(folder(), fs::perms(0555));
  fs::permissions(ledger_path(folder()), fs::perms(0666));
  const std::string result = as_a_stranger([&] { return fault_of([&] { Ledger::open(folder()); }); });
  if (result == "no other user") GTEST_SKIP() << "cannot become another user";
  EXPECT_THAT(result, AllOf(has_code(EACCES), HasSubstr("its folder")));
}

}  // namespace
}  // namespace tailrace
