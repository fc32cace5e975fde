#include "files/temporary_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <string_view>

#include "files/storage_time.hpp"
#include "files/write_all.hpp"
#include "os/failpoint.hpp"
#include "os/io_error.hpp"

namespace tailrace {
namespace {

constexpr std::string_view kPrefix = ".tailrace-";
constexpr std::string_view kSuffix = ".tmp";
constexpr mode_t kFileMode = 0666;  // less the umask

std::string next_temporary_name() {
  static std::atomic<std::uint64_t> counter{0};
  // Relaxed: only uniqueness is needed.
  const std::uint64_t number = counter.fetch_add(1, std::memory_order_relaxed);
  return std::string(kPrefix) + std::to_string(::getpid()) + "-" + std::to_string(number) +
         std::string(kSuffix);
}

bool is_temporary_name(std::string_view name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return false;
  name = name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size());
  return std::all_of(name.begin(), name.end(), [](char c) { return (c >= '0' && c <= '9') || c == '-'; });
}

/// 0, or errno.
int lock(int fd) {
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0)
    if (errno != EINTR) return errno;
  return 0;
}

/// A cleaner removes a file only while it holds the lock. So a locked file that still has a name keeps it.
/// Where the file system knows no flock, cleaners cannot lock either and leave the file alone.
bool secure(int fd) {
  struct stat status {};
  return lock(fd) != EWOULDBLOCK && ::fstat(fd, &status) == 0 && status.st_nlink > 0;
}

void remove_if_dead(const Folder& folder, const char* name) {
  const UniqueFd file(::openat(folder.fd.get(), name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  if (lock(file.get()) == 0) ::unlinkat(folder.fd.get(), name, 0);
}

}  // namespace

TemporaryFile::TemporaryFile(std::shared_ptr<const Folder> folder, std::string purpose)
    : folder_(std::move(folder)), purpose_(std::move(purpose)) {
  const StorageWait wait;
  for (;;) {
    name_ = next_temporary_name();
    if (purpose_.empty()) purpose_ = folder_->path + "/" + name_;
    fd_ = UniqueFd(::openat(folder_->fd.get(), name_.c_str(),
                            O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kFileMode));
    if (fd_ && secure(fd_.get())) return;
    if (!fd_ && errno != EEXIST) {
      const int error = errno;
      name_.clear();
      fail(error, "create");
    }
  }
}

TemporaryFile::~TemporaryFile() {
  if (folder_ && !name_.empty()) ::unlinkat(folder_->fd.get(), name_.c_str(), 0);
}

void TemporaryFile::append(std::span<const std::byte> bytes) {
  const StorageWait wait;
  failpoint("mid_write");
  if (const int error = write_all(fd_.get(), bytes); error != 0) fail(error, "write");
}

void TemporaryFile::start_writeback() noexcept { ::sync_file_range(fd_.get(), 0, 0, SYNC_FILE_RANGE_WRITE); }

void TemporaryFile::sync() {
  const StorageWait wait;
  failpoint("mid_sync");
  while (::fsync(fd_.get()) != 0)
    if (errno != EINTR) fail(errno, "write");
}

void TemporaryFile::rename_to(const std::string& leaf) {
  const StorageWait wait;
  if (::renameat(folder_->fd.get(), name_.c_str(), folder_->fd.get(), leaf.c_str()) != 0)
    fail(errno, "rename to");
  name_.clear();
}

void TemporaryFile::fail(int error, const char* action) const {
  throw_io_error(error, action, purpose_, folder_->fd.get());
}

void remove_dead_temporary_files(const Folder& folder) {
  UniqueFd fd(::openat(folder.fd.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::fdopendir(fd.get()), ::closedir);
  if (!entries) return;
  (void)fd.release();
  while (const dirent* entry =
             ::readdir(entries.get()))  // NOLINT(concurrency-mt-unsafe): a stream of our own
    if (is_temporary_name(entry->d_name)) remove_if_dead(folder, entry->d_name);
}

}  // namespace tailrace
