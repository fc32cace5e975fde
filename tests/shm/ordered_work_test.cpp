#include "shm/ordered_work.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <set>
#include <stdexcept>
#include <thread>

namespace tailrace {
namespace {

using ::testing::ElementsAre;

constexpr std::chrono::seconds kLong{20};  // only ever waited for by a broken program

bool comes(const std::shared_future<void>& event) {
  return event.wait_for(kLong) == std::future_status::ready;
}

TEST(OrderedWork, DoesEveryPartOnceAndIsReadyInOrderInTheCallingThread) {
  std::vector<std::atomic<int>> done(12);
  std::vector<std::size_t> ready;
  const auto caller = std::this_thread::get_id();
  work_in_order(
      {4, 3, 5}, [&](std::size_t thing, std::size_t part) { ++done[thing * 3 + part]; },
      [&](std::size_t thing) {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        for (std::size_t part = 0; part < 3; ++part) EXPECT_EQ(done[thing * 3 + part], 1);
        ready.push_back(thing);
      });
  EXPECT_THAT(ready, ElementsAre(0, 1, 2, 3));
  for (const auto& count : done) EXPECT_EQ(count, 1);
}

TEST(OrderedWork, IsReadyWithTheFirstThingWhileLaterOnesAreUnderWay) {
  std::promise<void> first_ready;
  const std::shared_future<void> event = first_ready.get_future().share();
  bool came = false;
  work_in_order(
      {2, 1, 1},
      [&](std::size_t thing, std::size_t) {
        if (thing == 1) came = comes(event);
      },
      [&](std::size_t thing) {
        if (thing == 0) first_ready.set_value();
      });
  EXPECT_TRUE(came) << "the first thing was held back until all were done";
}

TEST(OrderedWork, GoesOnWhileTheCallerIsBusyWithWhatIsReady) {
  std::promise<void> last_done;
  const std::shared_future<void> event = last_done.get_future().share();
  work_in_order(
      {3, 1, 1},
      [&](std::size_t thing, std::size_t) {
        if (thing == 2) last_done.set_value();
      },
      [&](std::size_t thing) {
        if (thing == 0) {
          EXPECT_TRUE(comes(event));
        }
      });
}

TEST(OrderedWork, WaitsForAnEarlierThingThatIsSlowerThanLaterOnes) {
  std::promise<void> last_done;
  const std::shared_future<void> event = last_done.get_future().share();
  std::vector<std::size_t> ready;
  work_in_order(
      {3, 1, 2},
      [&](std::size_t thing, std::size_t) {
        if (thing == 0) {
          EXPECT_TRUE(comes(event));
        }
        if (thing == 2) last_done.set_value();
      },
      [&](std::size_t thing) { ready.push_back(thing); });
  EXPECT_THAT(ready, ElementsAre(0, 1, 2));
}

TEST(OrderedWork, EndsWithTheExceptionOfThePartThatFailed) {
  std::atomic<int> done = 0;
  EXPECT_THROW(work_in_order(
                   {1000, 1, 1},
                   [&](std::size_t thing, std::size_t) {
                     if (thing == 2) throw std::runtime_error("no room");
                     ++done;
                   },
                   [&](std::size_t thing) { EXPECT_LT(thing, 2U); }),
               std::runtime_error);
  EXPECT_EQ(done, 2) << "and begins nothing more";
}

TEST(OrderedWork, EndsWithTheExceptionOfTheCallback) {
  std::atomic<int> running = 0;
  EXPECT_THROW(work_in_order(
                   {64, 2, 4},
                   [&](std::size_t, std::size_t) {
                     ++running;
                     --running;
                   },
                   [](std::size_t thing) {
                     if (thing == 1) throw std::logic_error("stop");
                   }),
               std::logic_error);
  EXPECT_EQ(running, 0) << "no thread is left";
}

TEST(OrderedWork, OfNothingEndsAtOnce) {
  work_in_order(
      {0, 1, 2}, [](std::size_t, std::size_t) { FAIL(); }, [](std::size_t) { FAIL(); });
}

}  // namespace
}  // namespace tailrace
