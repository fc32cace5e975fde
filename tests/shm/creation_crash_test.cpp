#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/shm/support.hpp"

namespace tailrace {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::own;
using testing::small_spec;
using testing::TempFolder;

// The kernel's view changes in system calls only: with a kill at each border every state that a killed
// creator can leave in the file system occurs.
int kill_at_every_syscall(void (*body)(const RingFiles&), void (*check)(const TempFolder&),
                          void (*prepare)(const RingFiles&)) {
  for (int stop = 0;; ++stop) {
    const TempFolder folder;
    prepare(folder.files());
    int border = 0;
    const bool killed =
        testing::stopping_at_system_calls([&] { body(folder.files()); }, [&] { return border++ <= stop; });
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
