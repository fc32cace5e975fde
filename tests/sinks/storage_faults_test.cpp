#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <functional>

#include "files/atomic_file.hpp"
#include "tests/files/child.hpp"
#include "tests/sinks/support.hpp"

namespace tailrace {
namespace {

using ::testing::AllOf;
using testing::batch_of;
using testing::files_below;
using ::testing::HasSubstr;
using testing::in_child;
using ::testing::IsEmpty;
using testing::row_named;
using ::testing::StartsWith;
using testing::TemporaryFolder;
using testing::tensor_of;

const std::vector<float> kValues(2 << 20);  // 8 MiB

BatchView large_batch() {
  return batch_of({row_named(0, "a"), row_named(1, "b")},
                  {tensor_of("out", Dtype::kFloat32, {2, 1 << 20}, kValues)});
}

SinkConfig npy_config(const std::string& path) {
  SinkConfig config;
  config.kind = SinkKind::kNpy;
  config.path = path;
  return config;
}

/// The error of the batch as "errno: message"; empty = none.
std::string fault_of(const SinkConfig& config) {
  try {
    make_sink(config)->process(large_batch());
  } catch (const FileError& error) {
    return std::to_string(error.code().value()) + ": " + error.what();
  }
  return {};
}

TEST(StorageFaults, AFullDiskIsNamedWithItsFreeSpaceAndLeavesNothing) {
  const TemporaryFolder folder;
  const std::string result = in_child([&] {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tailrace-test", folder.path().c_str(), "tmpfs", 0, "size=1m") != 0)
      return std::string("no mount");
    const std::string fault = fault_of(npy_config(folder / "out"));
    return fault + " left: " + std::to_string(files_below(folder.path()).size());
  });
  if (result == "no mount") GTEST_SKIP() << "only root can mount a small file system";
  EXPECT_THAT(result, AllOf(HasSubstr(std::to_string(ENOSPC) + ": "), HasSubstr("out/a.npy'"),
                            HasSubstr(" free)"), HasSubstr("No space left"), HasSubstr("left: 0")));
}

TEST(StorageFaults, AFullDiskIsForTheBatchToMeetWhichWaitsForRoomAndNotForTheStart) {
  const TemporaryFolder folder;
  const std::string result = in_child([&] {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tailrace-test", folder.path().c_str(), "tmpfs", 0, "size=1m") != 0)
      return std::string("no mount");
    std::ofstream(folder / "other") << std::string(2 << 20, 'x');
    const std::string fault = testing::message_of([&] { make_sink(npy_config(folder.path())); });
    return fault + " batch: " + fault_of(npy_config(folder.path()));
  });
  if (result == "no mount") GTEST_SKIP() << "only root can mount a small file system";
  EXPECT_THAT(result, StartsWith(" batch: " + std::to_string(ENOSPC) + ": "));
}

TEST(StorageFaults, AFileSizeLimitIsAnErrorAndNotASignal) {
  const TemporaryFolder folder;
  const std::string result = in_child([&] {
    const rlimit limit{1 << 20, 1 << 20};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    return fault_of(npy_config(folder / "out"));
  });
  EXPECT_THAT(result, AllOf(HasSubstr(std::to_string(EFBIG) + ": "), HasSubstr("out/a.npy'")));
  EXPECT_THAT(files_below(folder.path()), IsEmpty());
}

TEST(StorageFaults, AFolderWithoutPermissionIsFoundBeforeAnyBatch) {
  const TemporaryFolder folder;
  const std::string result = in_child([&] {
    ::chmod(folder.path().c_str(), 0555);
    if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) return std::string("no other user");
    return testing::message_of([&] { make_sink(npy_config(folder.path())); });
  });
  if (result == "no other user") GTEST_SKIP() << "cannot become another user";
  EXPECT_THAT(result, AllOf(HasSubstr(folder.path().native()), HasSubstr("Permission denied")));
}

TEST(StorageFaults, AReadOnlyFileSystemIsFoundBeforeAnyBatch) {
  const TemporaryFolder folder;
  const std::string result = in_child([&] {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tailrace-test", folder.path().c_str(), "tmpfs", MS_RDONLY, "size=1m") != 0)
      return std::string("no mount");
    return testing::message_of([&] { make_sink(npy_config(folder.path())); }) +
           testing::message_of([&] { make_sink(npy_config(folder / "below")); });
  });
  if (result == "no mount") GTEST_SKIP() << "only root can mount a file system";
  EXPECT_THAT(result, AllOf(HasSubstr("Read-only file system"), HasSubstr("cannot create the folder"),
                            HasSubstr("/below'")));
}

/// Forks a child that writes half a batch, says so, and waits to be killed; kills it once `meanwhile` has
/// run.
void kill_in_mid_write(const std::string& path, const std::function<void()>& meanwhile) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    OutputFolder root(path);
    AtomicFiles files(root);
    files.create("a.bin").append(std::as_bytes(std::span(kValues)));
    files.create("sub/b.bin");
    (void)!::write(ends[1], "x", 1);
    for (;;) ::pause();
  }
  char ready = 0;
  ASSERT_EQ(::read(ends[0], &ready, 1), 1);
  meanwhile();
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(StorageFaults, AKilledWriterLeavesNoFinalNameAndItsSuccessorCleansUp) {
  const TemporaryFolder folder;
  kill_in_mid_write(folder.path(), [&] {
    OutputFolder living_neighbour(folder.path());
    (void)living_neighbour.open("sub");
    EXPECT_EQ(files_below(folder.path()).size(), 2U) << "files of the living were removed";
  });
  for (const std::string& name : files_below(folder.path())) EXPECT_THAT(name, HasSubstr(".tailrace-"));
  OutputFolder successor(folder.path());
  (void)successor.open("sub");
  EXPECT_THAT(files_below(folder.path()), IsEmpty());
}

}  // namespace
}  // namespace tailrace
