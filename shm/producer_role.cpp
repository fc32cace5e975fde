#include "shm/producer_role.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "os/failpoint.hpp"
#include "shm/mapped_file.hpp"

namespace tailrace {
namespace {

// Empty: it came or went between the two tries. O_CREAT only where there is none: with it the kernel refuses
// even root another user's file in a sticky folder (fs.protected_regular), and root could not clean up.
UniqueFd open_lock(const std::filesystem::path& path) {
  UniqueFd fd(open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  if (!fd && errno == ENOENT)
    fd = UniqueFd(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd && errno != ENOENT && errno != EEXIST) throw cannot_open(path, errno);
  return fd;
}

}  // namespace

ProducerRole::ProducerRole(RingFiles files, ByteLock lock)
    : files_(std::move(files)), lock_(std::move(lock)) {}

ProducerRole::~ProducerRole() {
  if (lock_.fd() >= 0) remove_unused();  // otherwise moved from
}

void ProducerRole::remove_unused() const noexcept {
  if (access(files_.control.c_str(), F_OK) != 0 && access(files_.data.c_str(), F_OK) != 0) remove_files();
}

std::optional<ProducerRole> ProducerRole::try_take(const RingFiles& files) {
  for (;;) {
    UniqueFd fd = open_lock(files.lock);
    if (!fd) continue;
    ByteLock lock(std::move(fd));
    if (!lock.try_lock(0)) return std::nullopt;
    // Locked, but perhaps a file that its last holder has just unlinked: then a second producer could lock
    // its successor of the same name.
    if (!same_file(lock.fd(), files.lock)) continue;
    // For messages only: on a full file system the role, and with it `clean`, must still be had.
    const std::string text = "pid " + std::to_string(getpid()) + "\n";
    if (pwrite(lock.fd(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size())) [[maybe_unused]]
      const int cut = ftruncate(lock.fd(), static_cast<off_t>(text.size()));
    return ProducerRole(files, std::move(lock));
  }
}

std::string ProducerRole::describe_holder(const RingFiles& files) {
  UniqueFd fd(open(files.lock.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  std::array<char, 32> text{};
  if (!fd || pread(fd.get(), text.data(), text.size() - 1, 0) <= 0) return "an unknown process";
  return {text.data(), std::strcspn(text.data(), "\n")};
}

bool ProducerRole::name_intact() const noexcept { return same_file(lock_.fd(), files_.lock); }

void ProducerRole::remove_files() const noexcept {
  // Whoever lost the lock file's name has lost the role: the names may be a successor's.
  if (!name_intact()) return;
  remove_ring();
  unlink(files_.lock.c_str());
}

void ProducerRole::remove_ring() const noexcept {
  if (!name_intact()) return;
  for (const auto& path :
       {files_.data, files_.control, unfinished(files_.data), unfinished(files_.control)}) {
    unlink(path.c_str());
    failpoint("mid_remove");
  }
}

std::optional<std::string> find_producer(const RingFiles& files) {
  const UniqueFd fd(open(files.lock.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd || !is_byte_locked(fd.get(), 0)) return std::nullopt;
  return ProducerRole::describe_holder(files);
}

}  // namespace tailrace
