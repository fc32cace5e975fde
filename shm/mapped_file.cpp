#include "shm/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "shm/no_room.hpp"

namespace tailrace {
namespace {

[[noreturn]] void fail(int error, const std::string& what) {
  throw std::system_error(error, std::generic_category(), what);
}

// What Boost.Interprocess wants of something mappable, for a descriptor that is already open: opening by name
// again could give another file.
class Mappable {
 public:
  Mappable(int fd, boost::interprocess::mode_t mode) : fd_(fd), mode_(mode) {}
  [[nodiscard]] boost::interprocess::mapping_handle_t get_mapping_handle() const { return {fd_, false}; }
  [[nodiscard]] boost::interprocess::mode_t get_mode() const { return mode_; }

 private:
  int fd_;
  boost::interprocess::mode_t mode_;
};

boost::interprocess::mapped_region map(int fd, const std::filesystem::path& path, MappedFile::Access access) {
  struct stat status {};
  if (fstat(fd, &status) == 0 && status.st_size == 0) return {};  // cannot be mapped; has no bytes
  const auto mode =
      access == MappedFile::Access::kRead ? boost::interprocess::read_only : boost::interprocess::read_write;
  try {
    return {Mappable(fd, mode), mode};
  } catch (const boost::interprocess::interprocess_exception& error) {
    // On hugetlbfs a mapping takes the file's pages out of the reserve.
    if (error.get_native_error() == ENOMEM && hugetlbfs_page_bytes(fd))
      throw no_room(fd, path, static_cast<std::uint64_t>(status.st_size));
    fail(error.get_native_error(), "cannot map " + path.string());
  }
}

// Whole blocks: on hugetlbfs, which refuses other sizes, these are its pages.
std::uint64_t in_whole_blocks(int fd, std::uint64_t bytes) {
  struct statvfs space {};
  if (fstatvfs(fd, &space) != 0 || space.f_frsize == 0) return bytes;
  return (bytes + space.f_frsize - 1) / space.f_frsize * space.f_frsize;
}

[[noreturn]] void cannot_allocate(int error, const std::filesystem::path& path, std::uint64_t bytes) {
  fail(error,
       "cannot allocate " + std::to_string(bytes) + " bytes for " + path.string() +
           (error == EFBIG ? "; raise the limit on file sizes (ulimit -f, LimitFSIZE= of the service), or "
                             "make the ring smaller (ring.slots, ring.slot_bytes)"
                           : ""));
}

void set_size(int fd, const std::filesystem::path& path, std::uint64_t bytes) {
  if (bytes_there(fd).value_or(UINT64_MAX) < bytes) throw no_room(fd, path, bytes);
  if (ftruncate(fd, static_cast<off_t>(in_whole_blocks(fd, bytes))) != 0) cannot_allocate(errno, path, bytes);
}

void allocate(int fd, const std::filesystem::path& path, std::uint64_t bytes) {
  int error = EINTR;  // tmpfs gives up at every signal
  while (error == EINTR) error = posix_fallocate(fd, 0, static_cast<off_t>(bytes));
  if (error == ENOSPC) throw no_room(fd, path, bytes);
  if (error != 0) cannot_allocate(error, path, bytes);
}

}  // namespace

std::system_error cannot_open(const std::filesystem::path& path, int error) {
  const bool is_foreign = error == ELOOP || error == EISDIR || error == ENXIO;
  const std::string what = "cannot open " + path.string();
  if (!is_foreign) return {error, std::generic_category(), what};
  return {
      EBADMSG, std::generic_category(),
      what + ": it is a link, a folder or the like, not a file of a ring; see who made it, and remove it"};
}

bool same_file(int fd, const std::filesystem::path& path) noexcept {
  struct stat ours {};
  struct stat named {};
  return fstat(fd, &ours) == 0 && lstat(path.c_str(), &named) == 0 && ours.st_ino == named.st_ino &&
         ours.st_dev == named.st_dev;
}

MappedFile::MappedFile(UniqueFd fd, const std::filesystem::path& path, Access access)
    : fd_(std::move(fd)), region_(map(fd_.get(), path, access)) {}

MappedFile MappedFile::create(const std::filesystem::path& path, std::uint64_t bytes,
                              std::uint64_t allocated_bytes, mode_t mode, std::optional<gid_t> group) {
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) fail(errno, "cannot create " + path.string());
  try {
    if (group && fchown(fd.get(), static_cast<uid_t>(-1), *group) != 0)
      fail(errno, "cannot give " + path.string() + " to group " + std::to_string(*group));
    if (fchmod(fd.get(), mode) != 0) fail(errno, "cannot set the mode of " + path.string());
    set_size(fd.get(), path, bytes);
    MappedFile file(std::move(fd), path, Access::kReadWrite);
    allocate(file.fd(), path, allocated_bytes);
    return file;
  } catch (...) {
    unlink(path.c_str());
    throw;
  }
}

std::optional<MappedFile> MappedFile::open(const std::filesystem::path& path, Access access) {
  const int flags = access == Access::kRead ? O_RDONLY : O_RDWR;
  UniqueFd fd(::open(path.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd && errno == ENOENT) return std::nullopt;
  if (!fd) throw cannot_open(path, errno);
  struct stat status {};
  if (fstat(fd.get(), &status) != 0) throw cannot_open(path, errno);
  if (!S_ISREG(status.st_mode)) throw cannot_open(path, S_ISDIR(status.st_mode) ? EISDIR : ENXIO);
  return MappedFile(std::move(fd), path, access);
}

bool MappedFile::is_at(const std::filesystem::path& path) const noexcept {
  return same_file(fd_.get(), path);
}

void MappedFile::keep_from_children() const noexcept {
  madvise(region_.get_address(), region_.get_size(), MADV_DONTFORK);
}

}  // namespace tailrace
