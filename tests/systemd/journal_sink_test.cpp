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
#include <string>

#include "shm/unique_fd.hpp"
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

TEST(JournalSink, NamesPipelineRoleGroupAndId) {
  EXPECT_THAT(fields(spdlog::level::warn, "no room"),
              UnorderedElementsAre("SYSLOG_IDENTIFIER=tailrace-consumer", "TAILRACE_ROLE=consumer",
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
    std::array<char, 4096> bytes{};
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

}  // namespace
}  // namespace tailrace
