#include "shm/byte_lock.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <string>
#include <system_error>

namespace tailrace {
namespace {

// Descriptors of byte locks of this process, so that a forked child can close its copies: with them open in
// the child the kernel would keep the lock of a parent that is long dead.
std::array<std::atomic<int>, 64>& lock_fds() {
  static auto* fds = [] {
    auto* all =
        new std::array<std::atomic<int>, 64>;  // never freed: used by the fork handler to the very end
    for (auto& fd : *all) fd = -1;
    pthread_atfork(nullptr, nullptr, [] {
      for (auto& fd : lock_fds())
        if (const int number = fd.exchange(-1); number >= 0) close(number);
    });
    return all;
  }();
  return *fds;
}

void register_fd(int fd) {
  for (auto& entry : lock_fds()) {
    int expected = -1;
    if (entry.compare_exchange_strong(expected, fd)) return;
  }
  throw std::system_error(EMFILE, std::generic_category(), "too many byte locks in one process");
}

// False: the fork handler has closed it in this process.
bool unregister_fd(int fd) noexcept {
  for (auto& entry : lock_fds()) {
    int expected = fd;
    if (entry.compare_exchange_strong(expected, -1)) return true;
  }
  return false;
}

struct flock one_byte(off_t byte) {
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_start = byte;
  range.l_len = 1;
  return range;
}

}  // namespace

UniqueFd reopen(int fd, int flags) {
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  UniqueFd file(open(path.c_str(), flags | O_CLOEXEC));
  if (!file) throw std::system_error(errno, std::generic_category(), "cannot open " + path + " again");
  return file;
}

ByteLock::ByteLock(UniqueFd file) : file_(std::move(file)) { register_fd(file_.get()); }
ByteLock::ByteLock(ByteLock&&) noexcept = default;
ByteLock& ByteLock::operator=(ByteLock&& other) noexcept {
  if (this != &other) {
    release();
    file_ = std::move(other.file_);
  }
  return *this;
}
ByteLock::~ByteLock() { release(); }

bool ByteLock::try_lock(off_t byte) {
  struct flock range = one_byte(byte);
  if (fcntl(file_.get(), F_OFD_SETLK, &range) == 0) return true;
  if (errno == EAGAIN || errno == EACCES) return false;
  throw std::system_error(errno, std::generic_category(), "cannot lock byte " + std::to_string(byte));
}

void ByteLock::release() noexcept {
  if (!file_) return;
  if (unregister_fd(file_.get()))
    file_.reset();
  else
    (void)file_.release();  // the number may name another file by now
}

bool is_byte_locked(int fd, off_t byte) noexcept {
  struct flock range = one_byte(byte);
  if (fcntl(fd, F_OFD_GETLK, &range) != 0) return true;
  return range.l_type != F_UNLCK;
}

}  // namespace tailrace
