#include "systemd/journal_sink.hpp"

#include <gmock/gmock.h>
#include <sched.h>
#include <spdlog/logger.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "os/unique_fd.hpp"
#include "systemd/log_batch.hpp"

namespace tailrace {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

const ProcessName kName{"consumer", "seg", "masks", 2};

std::vector<std::string> fields(spdlog::level::level_enum level, const char* text) {
  return JournalSink(kName).fields_of({"test", level, text});
}

TEST(JournalSink, NamesProgramPipelineRoleGroupAndId) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").filename();
  EXPECT_THAT(fields(spdlog::level::warn, "no room"),
              UnorderedElementsAre("SYSLOG_IDENTIFIER=" + program, "TAILRACE_ROLE=consumer",
                                   "TAILRACE_PIPELINE=seg", "TAILRACE_GROUP=masks", "TAILRACE_ID=2",
                                   "PRIORITY=4", "MESSAGE=consumer[seg:masks:2] no room"));
}

TEST(JournalSink, NamesTheBatchThatALineIsAbout) {
  const LogBatch outer(BatchNumber{7});
  {
    const LogBatch inner(BatchNumber{12});
    EXPECT_THAT(fields(spdlog::level::err, "x"), testing::Contains("TAILRACE_BATCH=12"));
  }
  EXPECT_THAT(fields(spdlog::level::err, "x"), testing::Contains("TAILRACE_BATCH=7"));
}

/// A folder /run of this process's own, with a journal's socket in it.
class FakeJournal {
 public:
  FakeJournal() {
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("tmpfs", "/run", "tmpfs", 0, "size=1m") != 0) {
      problem_ = std::string("no mount namespace: ") + std::strerror(errno);
      return;
    }
    std::filesystem::create_directories("/run/systemd/journal");
    socket_ = UniqueFd(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, "/run/systemd/journal/socket");
    if (bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      problem_ = std::string("bind: ") + std::strerror(errno);
  }

  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] std::string next() const {
    std::array<char, 64U << 10> bytes{};
    const ssize_t length = recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    return {bytes.data(), length > 0 ? static_cast<std::size_t>(length) : 0};
  }

 private:
  std::string problem_;
  UniqueFd socket_;
};

TEST(JournalSink, WritesWhatAJournalReads) {
  const FakeJournal journal;
  if (!journal.problem().empty()) GTEST_SKIP() << journal.problem();
  ASSERT_TRUE(JournalSink::is_available());
  spdlog::logger logger("test", std::make_shared<JournalSink>(kName));
  logger.error("batch {} failed", 3);
  EXPECT_THAT(journal.next(), AllOf(HasSubstr("TAILRACE_GROUP=masks\n"), HasSubstr("PRIORITY=3\n"),
                                    HasSubstr("MESSAGE=consumer[seg:masks:2] batch 3 failed\n"),
                                    Not(HasSubstr("CODE_FILE"))));
}

TEST(JournalSink, IsNotHeldUpByAJournalThatHangsAndTellsHowManyLinesAreLost) {
  const FakeJournal journal;  // reads nothing unless it is asked to
  if (!journal.problem().empty()) GTEST_SKIP() << journal.problem();
  spdlog::logger logger("test", std::make_shared<JournalSink>(kName));
  std::ifstream limit("/proc/sys/net/unix/max_dgram_qlen");
  int queue = 0;
  ASSERT_TRUE(limit >> queue);
  for (int i = 0; i < queue + 100; ++i) logger.info("line {}", i);
  int taken = 0;
  while (!journal.next().empty()) ++taken;
  ASSERT_LT(taken, queue + 100);
  logger.info("the next one");
  EXPECT_THAT(journal.next(),
              HasSubstr(fmt::format("] {} lines before this one are lost", queue + 100 - taken)));
  EXPECT_THAT(journal.next(), HasSubstr("the next one\n"));
}

TEST(JournalSink, GoesOnWithAJournalThatWasStartedAgain) {
  std::optional<FakeJournal> journal(std::in_place);
  if (!journal->problem().empty()) GTEST_SKIP() << journal->problem();
  spdlog::logger logger("test", std::make_shared<JournalSink>(kName));
  journal.reset();
  logger.info("nobody takes this");
  journal.emplace();
  logger.info("here again");
  EXPECT_THAT(journal->next(), HasSubstr("] 1 lines before this one are lost"));
  EXPECT_THAT(journal->next(), HasSubstr("here again\n"));
}

TEST(JournalSink, ShortensALineThatADatagramCannotHold) {
  const FakeJournal journal;
  if (!journal.problem().empty()) GTEST_SKIP() << journal.problem();
  spdlog::logger logger("test", std::make_shared<JournalSink>(kName));
  logger.info(std::string(8U << 20, 'x'));
  EXPECT_THAT(journal.next(), HasSubstr("TAILRACE_GROUP=masks\n"));
}

}  // namespace
}  // namespace tailrace
