#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <array>

#include "config/exit_codes.hpp"
#include "os/unique_fd.hpp"
#include "tests/ctl/pipeline_fixture.hpp"

namespace tailrace {
namespace {

constexpr const char* kEntered = "\x1b[?1049h";
constexpr const char* kLeft = "\x1b[?1049l";

/// `tailrace top` on a terminal that the test looks at and types on.
class TopOnATerminal : public PipelineFixture {
 protected:
  TopOnATerminal() {
    int master = -1;
    int slave = -1;
    const winsize size{24, 80, 0, 0};
    if (openpty(&master, &slave, nullptr, nullptr, &size) != 0) throw std::runtime_error("openpty");
    master_ = UniqueFd(master);
    slave_ = UniqueFd(slave);
    fcntl(master, F_SETFL, O_NONBLOCK);
    for (const int fd : {master, slave}) fcntl(fd, F_SETFD, FD_CLOEXEC);
    tcgetattr(slave, &before_);
  }
  void start_top(const std::vector<std::string>& arguments = {}) {
    std::vector<std::string> words{"top", "--interval", "0.1"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    forget_shown();
    top_ = &start(words, {"", -1, slave_.get()});
    ASSERT_TRUE(eventually([&] { return shows(kEntered) && shows("tailrace top"); })) << shown();
  }

  /// All that has been shown so far.
  const std::string& shown() {
    std::array<char, 4096> piece{};
    for (ssize_t length = 0; (length = read(master_.get(), piece.data(), piece.size())) > 0;)
      shown_.append(piece.data(), static_cast<std::size_t>(length));
    return shown_;
  }
  void forget_shown() {
    shown();
    shown_.clear();
  }
  bool shows(const std::string& text) { return shown().find(text) != std::string::npos; }
  void type(const std::string& keys) const {
    ASSERT_EQ(write(master_.get(), keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }

  void expect_left_in_order() {
    ASSERT_TRUE(eventually([&] {
      shown();  // or it could not write
      return !top_->running();
    }));
    EXPECT_EQ(top_->wait(), kExitDone);
    EXPECT_TRUE(shows(kLeft));
    termios now{};
    tcgetattr(slave_.get(), &now);
    EXPECT_EQ(now.c_lflag, before_.c_lflag) << "echo and lines are back";
  }

  UniqueFd master_;
  UniqueFd slave_;
  StartedProgram* top_ = nullptr;

 private:
  termios before_{};
  std::string shown_;
};

TEST_F(TopOnATerminal, LeavesTheScreenOnQ) {
  start_top();
  type("q");
  expect_left_in_order();
}

TEST_F(TopOnATerminal, LeavesTheScreenOnSignals) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    start_top();
    top_->send(signal);
    expect_left_in_order();
  }
}

TEST_F(TopOnATerminal, LeavesWhenTheWindowIsClosed) {
  start_top();
  slave_.reset();
  master_.reset();
  EXPECT_EQ(top_->wait(), kExitDone);
}

TEST_F(TopOnATerminal, FollowsRingsThatComeAndGo) {
  start_top({name_});
  ASSERT_TRUE(eventually([&] { return shows("no ring"); }));
  auto& run = start({"run", write_config(files_group() + held_group())});
  wait_until_held();
  ASSERT_TRUE(eventually([&] { return shows("held up"); })) << shown();
  EXPECT_TRUE(shows("3 of 12 batches"));
  release();
  EXPECT_EQ(run.wait(), kExitDone) << run.err();
  forget_shown();
  ASSERT_TRUE(eventually([&] { return shows("no ring"); })) << shown();
  type("q");
  expect_left_in_order();
}

TEST_F(TopOnATerminal, RedrawsInTheNewSize) {
  start_top();
  const winsize narrow{10, 12, 0, 0};
  ioctl(master_.get(), TIOCSWINSZ, &narrow);
  top_->send(SIGWINCH);  // as the terminal would, were it the test's own
  EXPECT_TRUE(eventually([&] { return shows("\x1b[Ktailrace top\r\n") || shows("tailrace top\x1b[0m"); }))
      << shown();
  top_->send(SIGTERM);
  expect_left_in_order();
}

TEST_F(TopOnATerminal, HasNoColourWhereNobodyWantsIt) {
  setenv("NO_COLOR", "1", 1);
  start_top();
  unsetenv("NO_COLOR");
  EXPECT_FALSE(shows("\x1b[0m"));
  type("q");
  expect_left_in_order();
}

class TopElsewhere : public PipelineFixture {};

TEST_F(TopElsewhere, PrintsPlainScreensUntilItIsStopped) {
  auto& top = start({"top", "--interval", "0.1"});
  const auto count = [&] {
    const std::string text = top.out();
    std::size_t screens = 0;
    for (std::size_t at = 0; (at = text.find("tailrace top", at)) != std::string::npos; ++at) ++screens;
    return screens;
  };
  ASSERT_TRUE(eventually([&] { return count() >= 2; })) << top.err();
  top.send(SIGTERM);
  EXPECT_EQ(top.wait(), kExitDone);
  EXPECT_EQ(top.out().find('\x1b'), std::string::npos);
}

TEST_F(TopElsewhere, SaysThatStdoutIsFull) {
  EXPECT_EQ(start({"top", "--interval", "0.1"}, {"/dev/full", -1}).wait(), kExitIo);
}

TEST_F(TopElsewhere, RefusesIntervalsThatAreNone) {
  for (const char* interval : {"0", "-1", "x", "nan", "1e9", ""})
    EXPECT_EQ(start({"top", "--interval", interval}).wait(), kExitUsage) << interval;
}

}  // namespace
}  // namespace tailrace
