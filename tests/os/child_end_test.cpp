#include "os/child_end.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "os/spawn.hpp"

namespace tailrace {
namespace {

pid_t start_shell(const char* script) { return Spawn().start("/bin/sh", {"sh", "-c", script}); }

int code_of(const char* script) { return exit_code_of_status(wait_for_end(start_shell(script)).value()); }

TEST(ChildEnd, IsItsExitCodeOrTheSignalAsAShellSaysIt) {
  EXPECT_EQ(code_of("exit 0"), 0);
  EXPECT_EQ(code_of("exit 77"), 77);
  EXPECT_EQ(code_of("kill -TERM $$"), 128 + SIGTERM);
}

TEST(ChildEnd, IsNotThereWhileTheChildRuns) {
  const pid_t child = start_shell("kill -STOP $$");
  EXPECT_FALSE(end_of(child));
  ::kill(child, SIGKILL);
  EXPECT_EQ(exit_code_of_status(wait_for_end(child).value()), 128 + SIGKILL);
}

TEST(ChildEnd, IsUnknownOfWhatIsNoChildOrWasReapedBefore) {
  EXPECT_FALSE(wait_for_end(::getppid()));
  const pid_t child = start_shell("exit 0");
  ASSERT_TRUE(wait_for_end(child));
  EXPECT_FALSE(wait_for_end(child));
  EXPECT_FALSE(end_of(child));
}

}  // namespace
}  // namespace tailrace
