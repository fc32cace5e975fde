#include "files/storage_time.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "os/clock.hpp"

namespace tailrace {
namespace {

void let_time_pass() {
  const std::uint64_t start = monotonic_ns();
  while (monotonic_ns() < start + 1000) {
  }
}

TEST(StorageTime, StandsStillWhileNobodyWaits) {
  const std::uint64_t before = storage_ns();
  let_time_pass();
  EXPECT_EQ(storage_ns(), before);
}

TEST(StorageTime, GoesOnDuringAWait) {
  const std::uint64_t before = storage_ns();
  const StorageWait wait;
  let_time_pass();
  EXPECT_GE(storage_ns(), before + 1000);
}

TEST(StorageTime, CountsAWaitInsideAnotherOnce) {
  const std::uint64_t begun = monotonic_ns();
  const std::uint64_t before = storage_ns();
  {
    const StorageWait outer;
    for (int i = 0; i < 3; ++i) {
      const StorageWait inner;
      let_time_pass();
    }
  }
  EXPECT_GE(storage_ns() - before, 3000U);
  EXPECT_LE(storage_ns() - before, monotonic_ns() - begun);
}

TEST(StorageTime, IsEachThreadsOwn) {
  const std::uint64_t before = storage_ns();
  std::thread([] {
    const StorageWait wait;
    let_time_pass();
  }).join();
  EXPECT_EQ(storage_ns(), before);
}

}  // namespace
}  // namespace tailrace
