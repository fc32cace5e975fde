#include "ctl/restart_policy.hpp"

#include <gtest/gtest.h>

#include "config/exit_codes.hpp"

namespace tailrace {
namespace {

using std::chrono::milliseconds;

TEST(RestartPolicy, NeverRestartsWhatOnlyAPersonCanMend) {
  for (const int code : {kExitUsage, kExitDamagedRing, kExitNoDevice, kExitPermission, kExitConfig})
    EXPECT_FALSE(RestartPolicy().pause_before_restart(code, true)) << code;
}

TEST(RestartPolicy, RestartsAfterCrashesKillsAndPassingTroubles) {
  for (const int code : {0, 1, 70, 75, 127, 128 + 6, 128 + 9, 128 + 11})
    EXPECT_TRUE(RestartPolicy().pause_before_restart(code, false)) << code;
}

TEST(RestartPolicy, GivesUpAtTheFifthDeathBeforeTheFirstBatch) {
  RestartPolicy policy;
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(policy.pause_before_restart(1, false)) << i;
  EXPECT_FALSE(policy.pause_before_restart(1, false));
}

TEST(RestartPolicy, NeverGivesUpAProcessThatGetsSomethingDone) {
  RestartPolicy policy;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(policy.pause_before_restart(139, true), milliseconds(100));
}

TEST(RestartPolicy, NeverGivesUpWhatHasWorkedOnce) {
  RestartPolicy policy;
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(policy.pause_before_restart(1, false));
  EXPECT_TRUE(policy.pause_before_restart(1, true));
  for (int i = 0; i < 100; ++i) EXPECT_LE(policy.pause_before_restart(137, false), milliseconds(3200)) << i;
  EXPECT_TRUE(policy.pause_before_restart(137, false));
}

TEST(RestartPolicy, NeverGivesUpWhereAnotherGetsTheSameWorkDone) {
  RestartPolicy policy;
  policy.note_success_of_another();
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(policy.pause_before_restart(137, false)) << i;
}

TEST(RestartPolicy, WaitsLongerEachTime) {
  RestartPolicy policy;
  for (const int wanted : {100, 200, 400, 800})
    EXPECT_EQ(policy.pause_before_restart(1, false), milliseconds(wanted));
}

TEST(RestartPolicy, GivesUpOnStorageThatStaysFull) {
  RestartPolicy policy;
  EXPECT_TRUE(policy.pause_before_restart(kExitIo, true)) << "it has worked until now";
  EXPECT_FALSE(policy.pause_before_restart(kExitIo, false)) << "its successor could not write either";
}

}  // namespace
}  // namespace tailrace
