#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <fstream>

#include "tests/shm/mounted_folder.hpp"
#include "tests/shm/support.hpp"

namespace tailrace {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::own;
using testing::small_spec;
using testing::TempFolder;

unsigned mode_of(const std::filesystem::path& path) {
  struct stat status {};
  return lstat(path.c_str(), &status) == 0 ? status.st_mode & 07777U : 0;
}

template <typename Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no exception";
}

TEST(PipelineNames, AreLettersDigitsDashAndUnderscore) {
  for (const std::string good : {"a", "A-b_9", "-"}) EXPECT_TRUE(is_valid_name(good)) << good;
  EXPECT_TRUE(is_valid_name(std::string(64, 'x')));
  for (const std::string bad : {"", "../x", "a/b", "a b", "a.b", "a\nb", "ü"})
    EXPECT_THROW(RingFiles(bad, "/dev/shm"), std::invalid_argument) << bad;
  EXPECT_THROW(RingFiles(std::string(65, 'x'), "/dev/shm"), std::invalid_argument);
  EXPECT_THROW(RingFiles(std::string(300, 'x'), "/dev/shm"), std::invalid_argument);
  EXPECT_FALSE(is_valid_name(std::string("a\0b", 3)));
}

TEST(RingFilesMade, HaveTheModesThatWereAskedForWhateverTheUmask) {
  for (const mode_t umask_value : {0U, 022U, 077U, 0177U}) {
    const TempFolder folder;
    RingSpec spec = small_spec();
    spec.mode = 0664;
    const mode_t before = umask(umask_value);
    const RingOwner owner = own(folder.files(), spec);
    umask(before);
    EXPECT_EQ(mode_of(folder.files().control), 0664U);
    EXPECT_EQ(mode_of(folder.files().data), 0644U) << "nobody but the producer writes data";
    EXPECT_EQ(mode_of(folder.files().lock), 0600U);
  }
}

TEST(RingFilesMade, BelongToTheGroupThatWasAskedFor) {
  if (geteuid() != 0) GTEST_SKIP() << "only root may give files to any group";
  const TempFolder folder;
  RingSpec spec = small_spec();
  spec.group = 12345;
  const RingOwner owner = own(folder.files(), spec);
  for (const auto& path : {folder.files().control, folder.files().data}) {
    struct stat status {};
    ASSERT_EQ(lstat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_gid, 12345U);
  }
}

TEST(RingFilesMade, HaveTheMemoryOfTheirControlFileAllocated) {
  const TempFolder folder;
  const RingOwner owner = own(folder.files(), small_spec());
  EXPECT_GE(testing::allocated_bytes(folder.files().control),
            std::filesystem::file_size(folder.files().control))
      << "a hole would mean SIGBUS later";
}

TEST(RingFilesMade, CanBeMappedReadOnlyByAForeignReaderThatWaits) {
  const TempFolder folder;
  const RingOwner owner = own(folder.files(), small_spec());
  const Ring observer = testing::attach(folder.files(), RingAccess::kObserver);
  const EventCount events = observer.ready_events();
  events.wait(events.prepare(), std::chrono::milliseconds(1), std::chrono::nanoseconds(0));
  EXPECT_TRUE(LockLiveness(observer).is_held(kProducerId));
}

TEST(Leftovers, OfAKilledCreatorAreReplaced) {
  const TempFolder folder;
  std::ofstream(unfinished(folder.files().data)) << "half";
  std::ofstream(unfinished(folder.files().control)) << "made";
  const RingOwner owner = own(folder.files(), small_spec());
  EXPECT_THAT(folder.names(), ElementsAre("tailrace.test.ctl", "tailrace.test.data", "tailrace.test.lock"));
}

TEST(Leftovers, OfLengthZeroAreReplaced) {
  const TempFolder folder;
  std::ofstream(folder.files().control).flush();
  std::ofstream(folder.files().data).flush();
  const RingOwner owner = own(folder.files(), small_spec());
  EXPECT_EQ(attach_ring(folder.files(), RingAccess::kConsumer).state, AttachState::kReady);
}

TEST(PlantedLinks, AreNeverFollowed) {
  for (int which = 0; which < 3; ++which) {
    const TempFolder folder;
    const auto victim = folder.path() / "victim";
    std::ofstream(victim) << "precious";
    const RingFiles files = folder.files();
    const auto planted = which == 0 ? files.lock : which == 1 ? files.control : files.data;
    std::filesystem::create_symlink(victim, planted);
    if (which == 2)
      EXPECT_NO_THROW((void)own(files, small_spec())) << "a link in place of an old data file is replaced";
    else
      EXPECT_THAT(message_of([&] { (void)own(files, small_spec()); }), HasSubstr(planted.string()));
    std::string text;
    std::ifstream(victim) >> text;
    EXPECT_EQ(text, "precious");
  }
}

// Under a service manager "unexpected" would mean trying it again and again.
TEST(Leftovers, ThatAreNoFilesAreDamageThatAPersonMustMend) {
  for (const char* member : {"control", "lock"}) {
    const TempFolder folder;
    const auto path = member == std::string("lock") ? folder.files().lock : folder.files().control;
    std::filesystem::create_directory(path);
    try {
      (void)own(folder.files(), small_spec());
      ADD_FAILURE() << "taken for the ring's " << member;
    } catch (const std::system_error& error) {
      EXPECT_EQ(error.code(), std::errc::bad_message) << error.what();
      EXPECT_THAT(error.what(), AllOf(HasSubstr(path.string()), HasSubstr("remove it")));
    }
  }
}

TEST(PlantedLinks, InPlaceOfUnfinishedFilesAreNeverFollowed) {
  const TempFolder folder;
  const auto victim = folder.path() / "victim";
  std::ofstream(victim) << "precious";
  std::filesystem::create_symlink(victim, unfinished(folder.files().data));
  std::filesystem::create_symlink(victim, unfinished(folder.files().control));
  (void)own(folder.files(), small_spec());
  std::string text;
  std::ifstream(victim) >> text;
  EXPECT_EQ(text, "precious");
}

TEST(Allocation, GoesOnAfterSignals) {
  constexpr std::uint64_t kBytes = 512U << 20;
  const TempFolder folder;
  static volatile sig_atomic_t left = 0;
  left = 4;
  struct sigaction action {};
  action.sa_handler = [](int) {
    left = left - 1;
    if (left <= 0) {
      const itimerval off{};
      setitimer(ITIMER_REAL, &off, nullptr);
    }
  };
  struct sigaction before {};
  sigaction(SIGALRM, &action, &before);
  const itimerval often{{0, 4'000}, {0, 4'000}};
  setitimer(ITIMER_REAL, &often, nullptr);
  EXPECT_NO_THROW((void)MappedFile::create(folder.path() / "big", kBytes, kBytes, 0600, std::nullopt));
  while (left > 0) pause();
  sigaction(SIGALRM, &before, nullptr);
}

/// A tmpfs of 8 MiB; skips the test where it cannot be had.
class SmallFileSystem : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!folder.problem().empty()) GTEST_SKIP() << folder.problem();
  }
  testing::MountedFolder folder{"tmpfs", "size=8m"};
};

TEST_F(SmallFileSystem, TooSmallForTheRingIsSaidWithBothSizesAndNothingStays) {
  RingSpec spec = small_spec();
  const std::uint64_t wanted = data_file_bytes(4, kSlotAlignment);
  EXPECT_THAT(message_of([&] { (void)own(folder.files(), spec); }),
              AllOf(HasSubstr(std::to_string(wanted)), HasSubstr("8384512 bytes are free"),
                    HasSubstr(".data"), HasSubstr("remount,size="), HasSubstr("ring.slots")));
  EXPECT_THAT(folder.names(), IsEmpty());
}

TEST(HugePages, ThatAreMissingAreSaidWithTheWayToReserveThem) {
  const testing::MountedFolder folder("hugetlbfs", "pagesize=2M");
  if (!folder.problem().empty()) GTEST_SKIP() << folder.problem();
  const TempFolder control;
  const RingFiles files("test", folder.path(), control.path());
  RingSpec spec = small_spec(1);
  spec.slot_bytes = 1ULL << 40;  // more than any machine has reserved
  EXPECT_THAT(message_of([&] { (void)own(files, spec); }),
              AllOf(HasSubstr("524289 huge pages of 2048kB are wanted"), HasSubstr("nr_hugepages"),
                    HasSubstr("No space left")));
  EXPECT_THAT(folder.names(), IsEmpty());
  EXPECT_THAT(control.names(), IsEmpty());
}

TEST_F(SmallFileSystem, FullOfOtherThingsStillLetsARingBeCleaned) {
  RingSpec spec = small_spec(1);
  (void)own(folder.files(), spec);
  folder.fill();
  std::filesystem::resize_file(folder.files().lock, 0);
  folder.fill();
  EXPECT_EQ(clean_ring(folder.files()), std::nullopt);
  EXPECT_THAT(folder.names(), ElementsAre("filler"));
}

TEST_F(SmallFileSystem, FullBeforeTheControlFileLeavesNothing) {
  const TempFolder control;
  const RingFiles files("test", control.path(), folder.path());
  folder.fill();
  EXPECT_THAT(message_of([&] { (void)own(files, small_spec()); }), HasSubstr(".ctl"));
  EXPECT_THAT(folder.names(), ElementsAre("filler"));
  EXPECT_THAT(control.names(), IsEmpty());
}

}  // namespace
}  // namespace tailrace
