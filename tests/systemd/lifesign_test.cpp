#include "systemd/lifesign.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/ctl/started_program.hpp"
#include "tests/shm/support.hpp"
#include "tests/systemd/notify_socket.hpp"

namespace tailrace {
namespace {

using namespace std::chrono_literals;

constexpr auto kPeriod = 800ms;
constexpr const char* kPing = "WATCHDOG=1";
constexpr const char* kExtend = "EXTEND_TIMEOUT_USEC=";
constexpr const char* kStuck = "STATUS=STUCK";

class LifesignTest : public ::testing::Test {
 protected:
  void expect_no_ping_after_stuck() {
    ASSERT_TRUE(socket_.await(kStuck)) << socket_.text();
    const std::size_t pings = socket_.count(kPing);
    // The object looks several times before it says another thing.
    stage_.say("another thing");
    ASSERT_TRUE(socket_.await_more(kStuck));
    EXPECT_EQ(socket_.count(kPing), pings) << socket_.text();
  }

  StopSignals signals_;  // before any thread
  testing::TempFolder folder_;
  NotifySocket socket_{folder_.path(), kPeriod};
  std::atomic<std::uint64_t> measure_{0};
  Lifesign life_{signals_, kPeriod};
  Lifesign::Stage stage_{life_, "loading", [this] { return measure_.load(); }};
};

/// Does something now and then, as a loop does.
class Repeated {
 public:
  explicit Repeated(std::function<void()> work)
      : thread_([this, work = std::move(work)] {
          while (!quit_) {
            work();
            std::this_thread::sleep_for(5ms);
          }
        }) {}
  ~Repeated() {
    quit_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> quit_{false};
  std::thread thread_;
};

TEST_F(LifesignTest, PingsForAsLongAsTheMainLoopTurns) {
  const Repeated loop([this] { life_.turn(); });
  EXPECT_TRUE(socket_.await_more(kPing, 10));
  EXPECT_EQ(socket_.count(kStuck), 0U);
}

TEST_F(LifesignTest, StopsPingingWhereNothingTurnsAndGoesOnWhereItDoes) {
  expect_no_ping_after_stuck();
  const Repeated loop([this] { life_.turn(); });
  EXPECT_TRUE(socket_.await_more(kPing, 3));
}

TEST_F(LifesignTest, TakesAStageThatCountsWorkForOneThatGetsOn) {
  const Repeated work([this] { ++measure_; });
  EXPECT_TRUE(socket_.await_more(kPing, 10));
  EXPECT_EQ(socket_.count(kStuck), 0U);
}

TEST_F(LifesignTest, WaitsForWhatWasAllowedAndNoLonger) {
  {
    const Lifesign::Allowance allowance(life_, 1h);
    EXPECT_TRUE(socket_.await_more(kPing, 10));
    EXPECT_EQ(socket_.count(kStuck), 0U);
  }
  const Lifesign::Allowance allowance(life_, 1ms);
  expect_no_ping_after_stuck();
}

TEST_F(LifesignTest, StopsPingingForAHelperThatIsBusyWithoutGettingOn) {
  std::atomic<bool> busy{false};
  const Repeated loop([this] { life_.turn(); });
  const Lifesign::Helper helper(life_, "copy", [&] { return Lifesign::Look{busy, 7}; });
  EXPECT_TRUE(socket_.await_more(kPing, 10)) << "a helper that rests is no reason";
  EXPECT_EQ(socket_.count(kStuck), 0U);
  busy = true;
  EXPECT_TRUE(socket_.await("STATUS=STUCK: the copy does not get on")) << socket_.text();
}

TEST_F(LifesignTest, ExtendsTheStartForAsLongAsItAdvances) {
  {
    const Repeated work([this] { ++measure_; });
    ASSERT_TRUE(socket_.await_more(kExtend, 10));
  }
  ASSERT_TRUE(socket_.await(kStuck));
  const std::size_t extensions = socket_.count(kExtend);
  stage_.say("still loading");
  ASSERT_TRUE(socket_.await(std::string(kStuck) + ": the main loop does not get on; still loading"));
  EXPECT_EQ(socket_.count(kExtend), extensions) << "a start that hangs must run into its time-out";
}

TEST_F(LifesignTest, IsReadyOnceAndExtendsNothingThen) {
  life_.ready();
  life_.ready();
  ASSERT_TRUE(socket_.await("READY=1"));
  const std::size_t extensions = socket_.count(kExtend);
  const Repeated loop([this] { life_.turn(); });
  ASSERT_TRUE(socket_.await_more(kPing, 5));
  EXPECT_EQ(socket_.count("READY=1"), 1U);
  EXPECT_LE(socket_.count(kExtend), extensions + 1) << "one may have been under way";
}

TEST_F(LifesignTest, ExtendsAStopThatAdvances) {
  life_.ready();
  const Repeated loop([this] { life_.turn(); });
  kill(getpid(), SIGTERM);
  ASSERT_TRUE(socket_.await("STOPPING=1"));
  EXPECT_TRUE(socket_.await("STATUS=stopping; loading"));
  EXPECT_TRUE(socket_.await_more(kExtend, 5));
  EXPECT_EQ(socket_.count("STOPPING=1"), 1U);
}

TEST_F(LifesignTest, KeepsAStatusOnOneLine) {
  const Repeated loop([this] { life_.turn(); });
  stage_.say("reading a\nREADY=1\x1b[2J");
  EXPECT_TRUE(socket_.await("STATUS=reading a\\nREADY=1\\x1b[2J")) << socket_.text();
  EXPECT_EQ(socket_.count("READY=1"), 0U);
}

TEST(Lifesign, SaysThatTheProcessStopsWhenItEndsByItself) {
  StopSignals signals;
  const testing::TempFolder folder;
  const NotifySocket socket(folder.path(), 0us);
  { const Lifesign life(signals, 0ns); }
  EXPECT_TRUE(socket.await("STOPPING=1"));
  EXPECT_EQ(socket.count(kPing), 0U) << "nobody wanted any";
}

TEST(StopHook, IsCalledByTheFirstSignalAndByOneThatHasCome) {
  StopSignals signals;
  std::atomic<int> calls{0};
  {
    const StopSignals::StopHook hook(signals, [&] { ++calls; });
    kill(getpid(), SIGTERM);
    EXPECT_TRUE(eventually([&] { return calls == 1; }));
  }
  const StopSignals::StopHook late(signals, [&] { ++calls; });
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(signals.signal(), SIGTERM);
}

}  // namespace
}  // namespace tailrace
