#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/shm/support.hpp"

namespace tailrace {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::own;
using testing::small_spec;
using testing::TempFolder;

// Runs `body` in a child that is killed when it enters or leaves its system call number `stop` (counted from
// 0). False: it had ended before.
bool killed_at_syscall(int stop, void (*body)(const RingFiles&), const RingFiles& files) {
  const pid_t pid = fork();
  if (pid == 0) {
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    raise(SIGSTOP);
    body(files);
    _exit(0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  for (int i = 0; i <= stop && !WIFEXITED(status); ++i) {
    ptrace(PTRACE_SYSCALL, pid, nullptr, nullptr);
    waitpid(pid, &status, 0);
  }
  if (WIFEXITED(status)) return false;
  kill(pid, SIGKILL);
  waitpid(pid, &status, 0);
  return true;
}

// The kernel's view changes in system calls only: with a kill at each border every state that a killed
// creator can leave in the file system occurs.
int kill_at_every_syscall(void (*body)(const RingFiles&), void (*check)(const TempFolder&),
                          void (*prepare)(const RingFiles&)) {
  for (int stop = 0;; ++stop) {
    const TempFolder folder;
    prepare(folder.files());
    const bool killed = killed_at_syscall(stop, body, folder.files());
    check(folder);
    if (::testing::Test::HasFailure()) {
      ADD_FAILURE() << "killed at border " << stop << " of a system call";
      return stop;
    }
    if (!killed) return stop;
  }
}

void expect_rebuilt(const TempFolder& folder) {
  const AttachAnswer seen = attach_ring(folder.files(), RingAccess::kConsumer);
  EXPECT_TRUE(seen.state == AttachState::kAbsent || seen.state == AttachState::kInitialising ||
              seen.state == AttachState::kReady || seen.state == AttachState::kRetired)
      << seen.detail;
  const RingOwner owner = own(folder.files(), small_spec());
  EXPECT_EQ(attach_ring(folder.files(), RingAccess::kConsumer).state, AttachState::kReady);
  EXPECT_THAT(folder.names(), ElementsAre("tailrace.test.ctl", "tailrace.test.data", "tailrace.test.lock"));
}

TEST(CreatorKilled, AtAnySystemCallIsFollowedByAProducerThatRebuilds) {
  if (testing::kSanitized) GTEST_SKIP() << "sanitizers make system calls of their own";
  const int borders = kill_at_every_syscall([](const RingFiles& files) { (void)own(files, small_spec()); },
                                            expect_rebuilt, [](const RingFiles&) {});
  RecordProperty("borders", borders);
  EXPECT_GT(borders, 50);
}

TEST(ReplacerKilled, AtAnySystemCallIsFollowedByAProducerThatRebuilds) {
  if (testing::kSanitized) GTEST_SKIP() << "sanitizers make system calls of their own";
  const int borders =
      kill_at_every_syscall([](const RingFiles& files) { (void)own(files, small_spec()); }, expect_rebuilt,
                            [](const RingFiles& files) { (void)own(files, small_spec(6)); });
  RecordProperty("borders", borders);
  EXPECT_GT(borders, 100);
}

TEST(CleanerKilled, AtAnySystemCallIsFollowedByACleanThatEnds) {
  if (testing::kSanitized) GTEST_SKIP() << "sanitizers make system calls of their own";
  kill_at_every_syscall([](const RingFiles& files) { (void)clean_ring(files); },
                        [](const TempFolder& folder) {
                          EXPECT_EQ(clean_ring(folder.files()), std::nullopt);
                          EXPECT_THAT(folder.names(), IsEmpty());
                        },
                        [](const RingFiles& files) { (void)own(files, small_spec()); });
}

}  // namespace
}  // namespace tailrace
