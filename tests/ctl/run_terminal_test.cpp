#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <sstream>

#include "config/exit_codes.hpp"
#include "os/unique_fd.hpp"
#include "tests/ctl/pipeline_fixture.hpp"

namespace tailrace {
namespace {

constexpr unsigned short kColumns = 60;

/// What a run shows on a terminal that the test looks at.
class RunOnATerminal : public PipelineFixture {
 protected:
  RunOnATerminal() {
    int master = -1;
    int slave = -1;
    const winsize size{25, kColumns, 0, 0};
    if (openpty(&master, &slave, nullptr, nullptr, &size) != 0) throw std::runtime_error("openpty");
    master_ = UniqueFd(master);
    slave_ = UniqueFd(slave);
    fcntl(master, F_SETFD, FD_CLOEXEC);
    fcntl(slave, F_SETFD, FD_CLOEXEC);
    fcntl(master, F_SETFL, O_NONBLOCK);
  }

  /// All that has been shown so far.
  const std::string& shown() {
    std::array<char, 4096> piece{};
    for (ssize_t length = 0; (length = read(master_.get(), piece.data(), piece.size())) > 0;)
      shown_.append(piece.data(), static_cast<std::size_t>(length));
    return shown_;
  }

  UniqueFd master_;
  UniqueFd slave_;

 private:
  std::string shown_;
};

TEST_F(RunOnATerminal, RedrawsOneLineAndNeverTearsTheOthers) {
  auto& run = start({"run", write_config(files_group() + held_group())}, {"", slave_.get()});
  wait_until_held();
  EXPECT_TRUE(
      eventually([&] { return shown().find("\r\x1b[K" + name_ + "   0% 0/46 items") != std::string::npos; }));
  release();
  ASSERT_TRUE(eventually([&] {
    shown();
    return !run.running();
  }));
  EXPECT_EQ(run.wait(), kExitDone);
  std::istringstream lines(shown());
  bool saw_log_line = false;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t start = line.rfind("\x1b[K");
    const std::string text = start == std::string::npos ? line : line.substr(start + 3);
    if (text.find(" info ") == std::string::npos) continue;
    saw_log_line = true;
    EXPECT_THAT(text, testing::ContainsRegex("^[0-9]{4}-[0-9]{2}-[0-9]{2}T[^ ]+Z info [a-z]+\\[.*\r$"));
  }
  EXPECT_TRUE(saw_log_line);
  const std::string all = shown();
  for (std::size_t at = all.find("\x1b[K"); at != std::string::npos; at = all.find("\x1b[K", at + 1)) {
    const bool status = all.compare(at + 3, name_.size(), name_) == 0;
    if (status) {
      EXPECT_LT(all.find_first_of("\r\n", at) - at - 3, kColumns);
    }
  }
}

TEST_F(RunOnATerminal, ChildrenOutliveItsEndAndDrain) {
  auto& run = start({"run", write_config(files_group() + held_group())}, {"", slave_.get()});
  wait_until_held();
  const auto pids = ring_pids();
  run.send(SIGKILL);
  run.wait();
  slave_.reset();
  master_.reset();  // the window is closed, too
  release();
  EXPECT_TRUE(eventually([&] { return ring_is_gone(); }));
  for (const pid_t pid : pids) EXPECT_TRUE(eventually([&] { return !is_alive(pid); }));
  EXPECT_THAT(whole_batches().size(), testing::Ge(3U));
}

}  // namespace
}  // namespace tailrace
