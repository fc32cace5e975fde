#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <nlohmann/json.hpp>

#include "os/unique_fd.hpp"
#include "tests/files/child.hpp"
#include "tests/sinks/support.hpp"

namespace tailrace {
namespace {

using ::testing::AllOf;
using testing::batch_of;
using testing::bytes_of;
using ::testing::HasSubstr;
using testing::message_of;
using testing::read_file;
using testing::row_named;
using testing::TemporaryFolder;
using testing::tensor_of;
using testing::write_file;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

SinkConfig shell(const std::string& script, std::vector<std::string> arguments = {}) {
  SinkConfig config;
  config.kind = SinkKind::kExec;
  config.command = {"sh", "-c", script, "sh"};
  config.command.insert(config.command.end(), arguments.begin(), arguments.end());
  return config;
}

const std::vector<float> kLarge(1 << 20, 1.25F);  // 4 MiB: more than a pipe holds

BatchView large_batch() {
  return batch_of({row_named(0, "a"), row_named(1, "b")},
                  {tensor_of("out", Dtype::kFloat32, {2, 1 << 19}, kLarge)});
}

bool has_children() { return ::waitpid(-1, nullptr, WNOHANG) >= 0 || errno != ECHILD; }

std::ptrdiff_t open_descriptors() { return std::distance(fs::directory_iterator("/proc/self/fd"), {}); }

TEST(ExecSink, FeedsALineOfJsonAndTheBytesInLogicalOrder) {
  const TemporaryFolder folder;
  const std::vector<std::int16_t> values{0, 3, 1, 4, 2, 5};
  Row bad = row_named(8, "bad \xff");
  bad.skip_reason = "truncated";
  Row good = row_named(7, "good");
  good.height = 30;
  good.source = {1, 2, 3, 4};
  const auto results =
      make_sink(shell("cat > \"$1\"", {folder / "got"}))
          ->process(batch_of({good, bad}, {tensor_of("out", Dtype::kInt16, {2, 3}, values, {1, 2})}));
  const std::string got = read_file(folder / "got");
  const std::size_t line = got.find('\n');
  const auto header = nlohmann::json::parse(got.substr(0, line));
  EXPECT_EQ(header["tailrace"], 1);
  EXPECT_EQ(header["batch"], 12);
  EXPECT_EQ(header["rows"][0]["item"], 7);
  EXPECT_EQ(header["rows"][0]["name"], "good.jpg");
  EXPECT_EQ(header["rows"][0]["height"], 30);
  EXPECT_EQ(header["rows"][0]["source"], (std::vector<int>{1, 2, 3, 4}));
  EXPECT_EQ(header["rows"][1]["valid"], false);
  EXPECT_EQ(header["rows"][1]["skip_reason"], "truncated");
  EXPECT_EQ(header["rows"][1]["output_name"], "bad \xef\xbf\xbd");
  EXPECT_EQ(header["tensors"][0]["dtype"], "int16");
  EXPECT_EQ(header["tensors"][0]["shape"], (std::vector<int>{2, 3}));
  EXPECT_EQ(header["tensors"][0]["bytes"], 12);
  EXPECT_EQ(got.substr(line + 1), bytes_of(std::vector<std::int16_t>{0, 1, 2, 3, 4, 5}));
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].bytes, 6U);
}

TEST(ExecSink, FeedsMoreThanAPipeHoldsWhileTheProgramComplains) {
  const TemporaryFolder folder;
  ::testing::internal::CaptureStderr();
  make_sink(shell("head -c 300000 /dev/zero >&2; tail -n +2 > \"$1\"", {folder / "got"}))
      ->process(large_batch());
  EXPECT_EQ(::testing::internal::GetCapturedStderr().size(), 300000U);
  EXPECT_EQ(read_file(folder / "got"), bytes_of(kLarge));
}

TEST(ExecSink, TakesAProgramThatReadsNothingButSucceeds) {
  EXPECT_EQ(make_sink(shell("exit 0"))->process(large_batch()).size(), 2U);
  EXPECT_EQ(make_sink(shell("exec <&-; exit 0"))->process(large_batch()).size(), 2U);
}

TEST(ExecSink, ReportsStatusAndLastWordsOfAFailure) {
  ::testing::internal::CaptureStderr();
  const std::string message = message_of(
      [] { make_sink(shell("echo first >&2; echo 'no such model' >&2; exit 3"))->process(large_batch()); });
  ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(message, AllOf(HasSubstr("status 3"), HasSubstr("no such model")));
  EXPECT_THAT(message, ::testing::Not(HasSubstr("first")));
}

TEST(ExecSink, ReportsASignal) {
  EXPECT_THAT(message_of([] { make_sink(shell("kill -SEGV $$"))->process(large_batch()); }),
              HasSubstr("SEGV"));
}

TEST(ExecSink, KillsTheWholeProcessGroupAtTheTimeout) {
  const TemporaryFolder folder;
  const std::string fifo = folder / "alive";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const int reader = ::open(fifo.c_str(), O_RDONLY | O_NONBLOCK);
  ::fcntl(reader, F_SETFL, 0);
  SinkConfig config = shell("exec 3<>\"$1\"; sleep 1000 & sleep 1000", {fifo});
  config.timeout = 200ms;
  EXPECT_THAT(message_of([&] { make_sink(config)->process(large_batch()); }), HasSubstr("timeout"));
  EXPECT_FALSE(has_children());
  char byte = 0;
  EXPECT_EQ(::read(reader, &byte, 1), 0);  // not before every process that holds the other end is gone
  ::close(reader);
}

TEST(ExecSink, LeavesNothingRunningWhereItsConsumerIsKilled) {
  const TemporaryFolder folder;
  const std::string fifo = folder / "alive";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const int reader = ::open(fifo.c_str(), O_RDONLY | O_NONBLOCK);
  ::fcntl(reader, F_SETFL, 0);
  const SinkConfig config = shell("exec 3>\"$1\"; echo >&3; sleep 1000 & sleep 1000", {fifo});
  const pid_t consumer = testing::start([&] { make_sink(config)->process(large_batch()); });
  pollfd started{reader, POLLIN, 0};
  ASSERT_EQ(::poll(&started, 1, 60'000), 1);
  char byte = 0;
  EXPECT_EQ(::read(reader, &byte, 1), 1);
  ::kill(consumer, SIGKILL);
  ::waitpid(consumer, nullptr, 0);
  EXPECT_EQ(::read(reader, &byte, 1), 0);  // not before every process that holds the other end is gone
  ::close(reader);
}

TEST(ExecSink, DoesNotWaitForWhatTheProgramLeavesRunningAndLetsItGoOn) {
  const TemporaryFolder folder;
  // The grandchild holds all pipes until it is released.
  ASSERT_EQ(::mkfifo((folder / "go").c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo((folder / "done").c_str(), 0600), 0);
  make_sink(shell("(read x < \"$1\"; echo y > \"$2\") & exit 0", {folder / "go", folder / "done"}))
      ->process(large_batch());
  write_file(folder / "go", "\n");
  EXPECT_EQ(read_file(folder / "done"), "y\n");
}

TEST(ExecSink, LeaksNeitherDescriptorsNorZombies) {
  const std::ptrdiff_t at_first = open_descriptors();
  {
    const auto sink = make_sink(shell("exit 0"));
    const auto failing = make_sink(shell("exit 1"));
    std::ptrdiff_t before = 0;
    for (int i = 0; i < 10; ++i) {
      sink->process(large_batch());
      EXPECT_THROW(failing->process(large_batch()), std::runtime_error);
      if (i == 0) before = open_descriptors();
    }
    EXPECT_EQ(open_descriptors(), before);
  }
  EXPECT_EQ(open_descriptors(), at_first);
  EXPECT_FALSE(has_children());
}

TEST(ExecSink, HandsOnNoDescriptorOfOurs) {
  constexpr int kOurs = 77;
  ASSERT_EQ(::dup2(STDIN_FILENO, kOurs), kOurs);  // without O_CLOEXEC
  EXPECT_NO_THROW(make_sink(shell("test ! -e /proc/$$/fd/77"))->process(large_batch()));
  ::close(kOurs);
}

TEST(ExecSink, FindsOutAtOnceThatThereIsNoProgram) {
  SinkConfig config;
  config.kind = SinkKind::kExec;
  EXPECT_THROW(make_sink(config), std::runtime_error);
  config.command = {"no-such-program-of-tailrace"};
  EXPECT_THAT(message_of([&] { make_sink(config); }), AllOf(HasSubstr("PATH"), HasSubstr(config.command[0])));
  config.command = {"/no/such/program"};
  EXPECT_THROW(make_sink(config), FileError);
  config.command = {"/etc/passwd"};
  EXPECT_THAT(message_of([&] { make_sink(config); }), HasSubstr("denied"));
  config.command = {"/tmp"};
  EXPECT_THROW(make_sink(config), FileError);
}

TEST(ExecSink, IsNotHeldUpByALogThatHangs) {
  std::array<int, 2> log{};
  ASSERT_EQ(::pipe2(log.data(), O_CLOEXEC), 0);
  const UniqueFd unread(log[0]);
  UniqueFd full(log[1]);
  ASSERT_EQ(::fcntl(full.get(), F_SETFL, O_NONBLOCK), 0);
  const std::string page(4096, 'x');
  while (::write(full.get(), page.data(), page.size()) > 0) continue;
  ASSERT_EQ(::fcntl(full.get(), F_SETFL, 0), 0);
  const UniqueFd former(::dup(STDERR_FILENO));
  ::dup2(full.get(), STDERR_FILENO);
  const std::string fault = message_of([] {
    make_sink(shell("cat > /dev/null; yes | head -c 1000000 >&2; echo the end >&2; exit 1"))
        ->process(large_batch());
  });
  ::dup2(former.get(), STDERR_FILENO);
  EXPECT_THAT(fault, HasSubstr("ended with status 1; its last words: the end"));
}

}  // namespace
}  // namespace tailrace
