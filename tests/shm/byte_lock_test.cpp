#include "shm/byte_lock.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/shm/support.hpp"

namespace tailrace {
namespace {

using testing::Child;
using testing::TempFolder;

struct LockFile {
  TempFolder folder;
  std::string path = folder.path() / "locks";
  UniqueFd base{open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
  [[nodiscard]] UniqueFd another(int flags = O_RDWR) const { return reopen(base.get(), flags); }
};

TEST(ByteLock, IsSeenThroughAnotherDescriptionEvenOneForReadingOnly) {
  const LockFile file;
  ByteLock lock(file.another());
  ASSERT_TRUE(lock.try_lock(3));
  const UniqueFd asking = file.another(O_RDONLY);
  EXPECT_TRUE(is_byte_locked(asking.get(), 3));
  EXPECT_FALSE(is_byte_locked(asking.get(), 2));
  EXPECT_FALSE(is_byte_locked(asking.get(), 4));
  lock.release();
  EXPECT_FALSE(is_byte_locked(asking.get(), 3));
}

TEST(ByteLock, IsExclusiveAndMovesWithItsObject) {
  const LockFile file;
  ByteLock first(file.another());
  ASSERT_TRUE(first.try_lock(0));
  ByteLock second(file.another());
  EXPECT_FALSE(second.try_lock(0));
  ByteLock moved(std::move(first));
  EXPECT_FALSE(second.try_lock(0));
  moved = ByteLock(file.another());
  EXPECT_TRUE(second.try_lock(0));
}

TEST(ByteLock, CountsAsHeldWhenTheQuestionCannotBeAnswered) { EXPECT_TRUE(is_byte_locked(-1, 0)); }

TEST(ByteLock, SurvivesTheEndOfAForkedChild) {
  const LockFile file;
  ByteLock lock(file.another());
  ASSERT_TRUE(lock.try_lock(1));
  Child child([](const Child::Line&) {});
  EXPECT_EQ(child.join(), 0);
  EXPECT_TRUE(is_byte_locked(file.another().get(), 1));
}

TEST(ByteLock, EndsWithItsProcessAlthoughAForkedChildLivesOn) {
  const LockFile file;
  Child parent([&](const Child::Line& line) {
    ByteLock lock(file.another());
    if (!lock.try_lock(1)) _exit(1);
    if (fork() == 0) {  // lives until the test closes its pipe
      line.say('c');
      (void)line.hear();
      _exit(0);
    }
    (void)pause();
  });
  ASSERT_EQ(parent.hear(), 'c');
  EXPECT_TRUE(is_byte_locked(file.another().get(), 1));
  parent.kill_now();
  EXPECT_FALSE(is_byte_locked(file.another().get(), 1));
}

TEST(ByteLock, OfAForkedChildsCopyClosesNoOtherFile) {
  const LockFile file;
  ByteLock lock(file.another());
  ASSERT_TRUE(lock.try_lock(1));
  Child child([&](const Child::Line&) {
    const int number = open("/dev/null", O_RDONLY);  // gets the number of the lock's descriptor
    if (number != lock.fd()) _exit(2);
    lock.release();
    _exit(fcntl(number, F_GETFD) >= 0 ? 0 : 3);
  });
  EXPECT_EQ(child.join(), 0);
}

TEST(ByteLock, BeyondTheMostThatAProcessMayHaveIsAnErrorThatLeaksNothing) {
  const LockFile file;
  std::vector<ByteLock> locks;
  EXPECT_THROW(for (int i = 0; i < 100; ++i) locks.emplace_back(file.another()), std::system_error);
  EXPECT_GE(locks.size(), 32U);
  locks.clear();
  EXPECT_NO_THROW(ByteLock(file.another()));
}

}  // namespace
}  // namespace tailrace
