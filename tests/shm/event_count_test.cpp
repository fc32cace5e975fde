#include "shm/event_count.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "os/clock.hpp"

namespace tailrace {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::nanoseconds;

constexpr int kRounds = 200'000;

// Each side waits without an end in sight for the other's number: one lost wake-up and this never returns.
void ping_pong(nanoseconds spin) {
  std::atomic<std::uint32_t> word{0};
  std::atomic<int> turn{0};
  const EventCount events(word);
  const auto side = [&](int parity) {
    for (int round = parity; round < kRounds; round += 2) {
      for (;;) {
        const std::uint32_t ticket = events.prepare();
        if (turn.load(std::memory_order_relaxed) == round) break;
        events.wait(ticket, hours(1), spin);
      }
      turn.store(round + 1, std::memory_order_relaxed);
      events.notify();
    }
  };
  std::thread other(side, 1);
  side(0);
  other.join();
  EXPECT_EQ(turn, kRounds);
}

TEST(EventCount, LosesNoWakeUp) { ping_pong(nanoseconds(0)); }
TEST(EventCount, LosesNoWakeUpWithASpinBeforeTheWait) { ping_pong(microseconds(2)); }

TEST(EventCount, ReturnsAfterItsTimeout) {
  std::atomic<std::uint32_t> word{5};
  const EventCount events(word);
  const std::uint64_t start = monotonic_ns();
  events.wait(events.prepare(), std::chrono::milliseconds(20), nanoseconds(0));
  EXPECT_GE(monotonic_ns() - start, 15'000'000U);
}

TEST(EventCount, DoesNotSleepWhenNotifiedSincePrepare) {
  std::atomic<std::uint32_t> word{UINT32_MAX};  // and it wraps
  const EventCount events(word);
  const std::uint32_t ticket = events.prepare();
  events.notify();
  events.wait(ticket, hours(1), nanoseconds(0));
  EXPECT_EQ(word, 0U);
}

TEST(EventCount, CarriesWhatWasWrittenBeforeTheNotification) {
  std::atomic<std::uint32_t> word{0};
  const EventCount events(word);
  int plain = 0;
  std::thread other([&] {
    plain = 7;
    events.notify();
  });
  while (events.prepare() == 0) events.wait(0, hours(1), nanoseconds(0));
  EXPECT_EQ(plain, 7);
  other.join();
}

}  // namespace
}  // namespace tailrace
