#include "ledger/ledger.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

#include "ledger/database.hpp"
#include "ledger/group_ledger.hpp"
#include "tests/ledger/support.hpp"

namespace tailrace {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using testing::at;
using testing::fault_of;
using testing::has_code;
using ::testing::HasSubstr;
using testing::job_of;
using testing::query;
using testing::record_of;

mode_t mode_of(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 0777;
}

class LedgerTest : public ::testing::Test {
 protected:
  std::string folder() const { return temporary_.path() / "state"; }

  TempFolder temporary_;
};

TEST_F(LedgerTest, MakesItsFolders) {
  (void)Ledger::create(folder() + "/a/b");
  EXPECT_TRUE(fs::exists(ledger_path(folder() + "/a/b")));
}

TEST_F(LedgerTest, BelongsToOwnerAndGroup) {
  const mode_t former = ::umask(0002);
  const Ledger ledger = Ledger::create(folder());
  ::umask(former);
  EXPECT_EQ(mode_of(ledger_path(folder())), 0660U);
  EXPECT_EQ(mode_of(ledger_path(folder()) + "-wal"), 0660U);
  EXPECT_EQ(mode_of(folder()), 0775U);
}

TEST_F(LedgerTest, IsNotMadeByOpeningIt) {
  EXPECT_THAT(fault_of([&] { Ledger::open(folder()); }), has_code(ENOENT));
  fs::create_directories(folder());
  EXPECT_THAT(fault_of([&] { Ledger::open(folder()); }), AllOf(has_code(ENOENT), HasSubstr(folder())));
  EXPECT_THAT(fault_of([&] { Ledger::open_to_read(folder()); }), has_code(ENOENT));
  EXPECT_TRUE(fs::is_empty(folder()));
}

TEST_F(LedgerTest, IsMadeFromTheEmptyFileOfACreatorThatDied) {
  temporary_.write("state/ledger.sqlite", "");
  EXPECT_THAT(fault_of([&] { Ledger::open_to_read(folder()); }), has_code(ENOENT));
  (void)Ledger::open(folder());
  EXPECT_EQ(query(folder(), "PRAGMA user_version"), "1");
}

TEST_F(LedgerTest, IsInWalModeAndSyncsAtCheckpoints) {
  const Ledger ledger = Ledger::create(folder());
  EXPECT_EQ(query(folder(), "PRAGMA journal_mode"), "wal");
  EXPECT_EQ(ledger.database().integer("PRAGMA synchronous"), 1);
}

TEST_F(LedgerTest, CannotBeWrittenThroughAReader) {
  (void)Ledger::create(folder());
  const Ledger reader = Ledger::open_to_read(folder());
  EXPECT_THAT(fault_of([&] { reader.database().run("DELETE FROM items"); }), has_code(EROFS));
}

TEST_F(LedgerTest, TakesFoldersWithAnyName) {
  const fs::path former = fs::current_path();
  fs::current_path(temporary_.path());
  for (const std::string name :
       {"a b", "50%41", "what?mode=ro", "a#b", "new\nline", "file:x", "file:x?mode=memory",
        ":memory:", "\xff\xfe", "-rf", "'\"", "a/../b", "./c/"}) {
    (void)Ledger::create(name);
    EXPECT_TRUE(fs::exists(ledger_path(name))) << name;
    EXPECT_EQ(query(name, "SELECT count(*) FROM items"), "0") << name;
  }
  fs::current_path(former);
}

TEST_F(LedgerTest, SaysThatAPathIsTooLong) {
  std::string name = folder();
  while (name.size() < 600) name += "/" + std::string(100, 'x');
  EXPECT_THAT(fault_of([&] { Ledger::create(name); }),
              AllOf(has_code(ENAMETOOLONG), HasSubstr("pipeline.state")));
}

TEST_F(LedgerTest, RefusesNamesWithAZeroByteAndNoName) {
  EXPECT_NE(fault_of([&] { Ledger::create(folder() + std::string("\0x", 2)); }), "");
  EXPECT_NE(fault_of([&] { Ledger::create(""); }), "");
}

TEST_F(LedgerTest, SaysWhatIsInThePlaceOfItsFolder) {
  temporary_.write("state", "a file");
  EXPECT_THAT(fault_of([&] { Ledger::create(folder()); }), AllOf(has_code(ENOTDIR), HasSubstr(folder())));
}

TEST_F(LedgerTest, IsReachedThroughTheUsersOwnLinks) {
  fs::create_directories(temporary_.path() / "disk2");
  fs::create_directory_symlink(temporary_.path() / "disk2", folder());
  (void)Ledger::create(folder());
  EXPECT_TRUE(fs::exists(temporary_.path() / "disk2/ledger.sqlite"));
}

TEST_F(LedgerTest, DoesNotFollowALinkInPlaceOfItsFile) {
  const fs::path precious = temporary_.write("precious", "");
  fs::create_directories(folder());
  for (const fs::path& target : {precious, temporary_.path() / "nowhere"}) {
    fs::create_symlink(target, ledger_path(folder()));
    EXPECT_THAT(fault_of([&] { Ledger::create(folder()); }),
                AllOf(has_code(ELOOP), HasSubstr("symbolic link")));
    fs::remove(ledger_path(folder()));
  }
  EXPECT_EQ(fs::file_size(precious), 0U);
  EXPECT_FALSE(fs::exists(temporary_.path() / "nowhere"));
}

TEST_F(LedgerTest, RefusesAFolderInPlaceOfItsFile) {
  fs::create_directories(ledger_path(folder()));
  EXPECT_THAT(fault_of([&] { Ledger::create(folder()); }), HasSubstr(ledger_path(folder())));
}

TEST_F(LedgerTest, RefusesAFileThatIsNoDatabaseAndLeavesItAlone) {
  const std::string text(5000, 'x');
  temporary_.write("state/ledger.sqlite", text);
  EXPECT_THAT(fault_of([&] { Ledger::create(folder()); }),
              AllOf(has_code(EBADMSG), HasSubstr("not a database"), HasSubstr("begin anew")));
  EXPECT_EQ(fs::file_size(ledger_path(folder())), text.size());
}

TEST_F(LedgerTest, RefusesADatabaseOfAnotherProgramAndLeavesItAlone) {
  const std::string path = temporary_.write("state/ledger.sqlite", "");
  Database(path, Database::Access::kWrite, {}).run("CREATE TABLE items(x)");
  EXPECT_THAT(fault_of([&] { Ledger::create(folder()); }),
              AllOf(has_code(EBADMSG), HasSubstr("another program"), HasSubstr("pipeline.state")));
  EXPECT_NE(Database(path, Database::Access::kRead, {}).integer("SELECT count(*) FROM sqlite_schema"), 0);
}

TEST_F(LedgerTest, RefusesAnotherVersionNamingBoth) {
  Ledger::create(folder()).database().run("PRAGMA user_version = 2");
  EXPECT_THAT(fault_of([&] { Ledger::create(folder()); }),
              AllOf(has_code(EBADMSG), HasSubstr("version 2"), HasSubstr("reads 1")));
}

TEST_F(LedgerTest, RefusesATruncatedFile) {
  {
    JobLedger job(Ledger::create(folder()));
    const std::vector<std::string> names(20000, "name");
    (void)job.begin(job_of(names), at(names), false);
  }
  fs::resize_file(ledger_path(folder()), 4096);
  const std::vector<std::string> names(1, "other");
  EXPECT_THAT(
      fault_of([&] { (void)JobLedger(Ledger::create(folder())).begin(job_of(names, 2), at(names), true); }),
      AllOf(has_code(EBADMSG), HasSubstr(ledger_path(folder()))));
}

TEST_F(LedgerTest, NoticesThatItWasRemoved) {
  GroupLedger masks(Ledger::create(folder()), "masks");
  fs::remove_all(folder());
  EXPECT_THAT(fault_of([&] { masks.record(std::vector{record_of(1)}); }),
              AllOf(has_code(ENOENT), HasSubstr("removed or replaced")));
  (void)Ledger::create(folder());
  EXPECT_THAT(fault_of([&] { masks.record(std::vector{record_of(1)}); }), has_code(ENOENT));
}

}  // namespace
}  // namespace tailrace
