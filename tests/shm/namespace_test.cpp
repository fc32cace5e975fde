#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/shm/support.hpp"

namespace tailrace {
namespace {

using testing::Child;
using testing::own;
using testing::publish_batch;
using testing::small_spec;
using testing::TempFolder;

TEST(OtherPidNamespace, APredecessorThereProvesNothingSoItsRingIsReplaced) {
  const TempFolder folder;
  // The producer runs in a pid namespace of its own; the process between it and the test passes its answer
  // on.
  Child outer([&](const Child::Line& line) {
    if (unshare(CLONE_NEWPID) != 0) _exit(77);
    const pid_t inner = fork();
    if (inner == 0) {
      const RingOwner owner = own(folder.files(), small_spec());
      Janitor janitor(owner.ring(), kProducerId, {});
      FreeQueue queue(owner.ring(), janitor, std::chrono::nanoseconds(0), owner.start().next_seq);
      _exit(publish_batch(queue, 0) && queue.try_claim() ? 0 : 5);  // no destructors, as if killed
    }
    int status = 0;
    waitpid(inner, &status, 0);
    line.say(WEXITSTATUS(status) == 0 ? 'p' : 'f');
  });
  const char said = outer.hear();
  if (said == 0 && outer.join() == 77) GTEST_SKIP() << "needs the right to make pid namespaces";
  ASSERT_EQ(said, 'p');
  const Ring old = testing::attach(folder.files(), RingAccess::kObserver);
  const Ring consumers = testing::attach(folder.files(), RingAccess::kConsumer);
  for (const std::uint32_t g : {0U, 1U}) {
    const auto lease =
        consumers.protocol().try_lease(GroupId{g}, Owner{ParticipantId{1}, 1}, LeaseFilter::kAny);
    ASSERT_TRUE(lease && consumers.protocol().commit(*lease));
  }
  const RingOwner owner = own(folder.files(), small_spec());
  EXPECT_FALSE(owner.taken_over());
  EXPECT_EQ(old.state(), RingState::kRetired);
  EXPECT_EQ(owner.ring().protocol().count(GroupId{0}).free, 4U);
}

}  // namespace
}  // namespace tailrace
