#include "files/atomic_file.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "files/write_all.hpp"
#include "tests/sinks/support.hpp"

namespace tailrace {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::files_below;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::message_of;
using testing::read_file;
using testing::TemporaryFolder;
using testing::write_file;
using testing::fs::create_directories;
namespace fs = std::filesystem;

std::span<const std::byte> bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

TEST(AtomicFiles, AppearWholeUnderTheirFinalNamesOnlyAtCommit) {
  const TemporaryFolder folder;
  OutputFolder root(folder / "out");
  AtomicFiles files(root);
  files.create("a.txt").append(bytes("one"));
  files.create("sub/deep/b.txt").append(bytes("two"));
  EXPECT_FALSE(fs::exists(folder / "out/a.txt"));
  files.commit();
  EXPECT_THAT(files_below(folder.path()), ElementsAre("out/a.txt", "out/sub/deep/b.txt"));
  EXPECT_EQ(read_file(folder / "out/sub/deep/b.txt"), "two");
}

TEST(AtomicFiles, LeaveNothingWithoutCommit) {
  const TemporaryFolder folder;
  OutputFolder root(folder / "out");
  std::optional<AtomicFiles> files(std::in_place, root);
  files->create("sub/a.txt").append(bytes("one"));
  EXPECT_EQ(files_below(folder.path()).size(), 1U);
  files.reset();
  EXPECT_THAT(files_below(folder.path()), IsEmpty());
}

TEST(AtomicFiles, ReplaceTheirOwnFormerResult) {
  const TemporaryFolder folder;
  OutputFolder root(folder / "out");
  for (const char* text : {"a longer one", "new"}) {
    AtomicFiles files(root);
    files.create("a.txt").append(bytes(text));
    files.commit();
  }
  EXPECT_EQ(read_file(folder / "out/a.txt"), "new");
}

TEST(AtomicFiles, ManyFilesNeedFewDescriptors) {
  const TemporaryFolder folder;
  OutputFolder root(folder / "out");
  AtomicFiles files(root);
  for (int i = 0; i < 140; ++i) files.create(std::to_string(i)).append(bytes("x"));
  const auto open = std::distance(fs::directory_iterator("/proc/self/fd"), {});
  EXPECT_LT(open, 100);
  files.commit();
  EXPECT_EQ(files_below(folder / "out").size(), 140U);
}

TEST(AtomicFiles, TakeNamesWithAnyBytes) {
  const TemporaryFolder folder;
  OutputFolder root(folder / "out");
  AtomicFiles files(root);
  for (const char* name : {"new\nline/a b", "\xff\xfe/\x80", "-rf"}) files.create(name).append(bytes("x"));
  files.commit();
  EXPECT_THAT(files_below(folder / "out"),
              ::testing::UnorderedElementsAre("new\nline/a b", "\xff\xfe/\x80", "-rf"));
}

TEST(AtomicFiles, DoNotFollowALinkInPlaceOfASubFolder) {
  const TemporaryFolder folder;
  OutputFolder root(folder / "out");
  create_directories(folder / "elsewhere");
  fs::create_directory_symlink(folder / "elsewhere", folder / "out/sub");
  AtomicFiles files(root);
  EXPECT_THAT(message_of([&] { files.create("sub/a.txt"); }),
              AllOf(HasSubstr("out/sub'"), HasSubstr("symbolic link")));
  EXPECT_THAT(files_below(folder / "elsewhere"), IsEmpty());
}

TEST(AtomicFiles, ReplaceALinkInPlaceOfAFileAndLeaveItsTargetAlone) {
  const TemporaryFolder folder;
  OutputFolder root(folder / "out");
  write_file(folder / "precious", "precious");
  fs::create_symlink(folder / "precious", folder / "out/a.txt");
  AtomicFiles files(root);
  files.create("a.txt").append(bytes("result"));
  files.commit();
  EXPECT_EQ(read_file(folder / "precious"), "precious");
  EXPECT_FALSE(fs::is_symlink(folder / "out/a.txt"));
}

TEST(AtomicFiles, SayWhichPathIsInTheWay) {
  const TemporaryFolder folder;
  OutputFolder root(folder / "out");
  write_file(folder / "out/sub", "a file");
  create_directories(folder / "out/a.txt");
  AtomicFiles files(root);
  EXPECT_THAT(message_of([&] { files.create("sub/a"); }), AllOf(HasSubstr("out/sub'"), HasSubstr("free")));
  files.create("a.txt");
  EXPECT_THROW(files.commit(), FileError);
}

TEST(AtomicFiles, FollowAFolderThatWasRemovedMeanwhile) {
  const TemporaryFolder folder;
  OutputFolder root(folder / "out");
  for (int i = 0; i < 2; ++i) {
    AtomicFiles files(root);
    files.create("sub/a").append(bytes("x"));
    files.commit();
    EXPECT_TRUE(fs::exists(folder / "out/sub/a"));
    fs::remove_all(folder / "out/sub");
  }
}

TEST(OutputFolder, IsReachedThroughTheUsersOwnLinks) {
  const TemporaryFolder folder;
  create_directories(folder / "disk2");
  fs::create_directory_symlink(folder / "disk2", folder / "out");
  OutputFolder root(folder / "out/masks");
  EXPECT_TRUE(fs::is_directory(folder / "disk2/masks"));
}

TEST(OutputFolder, RefusesAFileInItsPlaceByName) {
  const TemporaryFolder folder;
  write_file(folder / "out", "");
  EXPECT_THAT(message_of([&] { OutputFolder(folder / "out"); }), HasSubstr("out'"));
  EXPECT_THROW(OutputFolder(folder / "out/below"), FileError);
}

TEST(OutputFolder, RemovesTemporaryFilesThatNobodyHolds) {
  const TemporaryFolder folder;
  create_directories(folder / "sub");
  // The pid is our own: only the lock proves life.
  const std::string dead = ".tailrace-" + std::to_string(::getpid()) + "-999999.tmp";
  write_file(folder / dead, "half");
  write_file(folder / ("sub/" + dead), "half");
  OutputFolder root(folder.path());
  EXPECT_THAT(files_below(folder.path()), ElementsAre("sub/" + dead));
  (void)root.open("sub");
  EXPECT_THAT(files_below(folder.path()), IsEmpty());
}

TEST(OutputFolder, LeavesTemporaryFilesOfTheLivingAndForeignNames) {
  const TemporaryFolder folder;
  OutputFolder first(folder.path());
  AtomicFiles files(first);
  files.create("a").append(bytes("x"));
  for (const char* name : {".tailrace-notes.tmp", ".tailrace-1-1.png", "a.tmp"})
    write_file(folder / name, "");
  fs::create_symlink("/etc/passwd", folder / ".tailrace-7-7.tmp");
  create_directories(folder / ".tailrace-8-8.tmp");
  OutputFolder second(folder.path());
  EXPECT_EQ(files_below(folder.path()).size(), 5U);
  EXPECT_TRUE(fs::is_directory(folder / ".tailrace-8-8.tmp"));
  files.commit();
  EXPECT_EQ(read_file(folder / "a"), "x");
}

// Injected in place of write(2).
std::size_t largest_request = 0;
std::string written;
int interruptions = 0;

ssize_t write_a_little(int /*fd*/, const void* data, std::size_t count) {
  largest_request = std::max(largest_request, count);
  if (interruptions-- > 0) {
    errno = EINTR;
    return -1;
  }
  const std::size_t taken = std::min<std::size_t>(count, 7);
  written.append(static_cast<const char*>(data), taken);
  return static_cast<ssize_t>(taken);
}

TEST(WriteAll, GoesOnAfterShortAndInterruptedWrites) {
  const std::string text(100, 'x');
  written.clear();
  interruptions = 3;
  EXPECT_EQ(write_all(-1, bytes(text), write_a_little), 0);
  EXPECT_EQ(written, text);
}

std::uint64_t total = 0;

ssize_t write_at_most_what_linux_takes(int /*fd*/, const void* /*data*/, std::size_t count) {
  const std::size_t taken = std::min<std::size_t>(count, 0x7ffff000);
  total += taken;
  return static_cast<ssize_t>(taken);
}

TEST(WriteAll, WritesMoreThanFourGibibytes) {
  constexpr std::size_t kBytes =
      (std::size_t{9} << 29) + 3;  // nothing reads them: address and size are enough
  total = 0;
  EXPECT_EQ(write_all(-1, {static_cast<const std::byte*>(nullptr), kBytes}, write_at_most_what_linux_takes),
            0);
  EXPECT_EQ(total, kBytes);
}

TEST(WriteAll, GivesTheErrno) {
  EXPECT_EQ(write_all(-1, bytes("x")), EBADF);
  EXPECT_EQ(write_all(-1, bytes("x"), [](int, const void*, std::size_t) -> ssize_t { return 0; }), EIO);
}

}  // namespace
}  // namespace tailrace
