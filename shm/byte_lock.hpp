#pragma once

#include <sys/types.h>

#include <utility>

namespace tailrace {

/// A file descriptor that is closed at the end.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) noexcept : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~UniqueFd() { reset(); }

  [[nodiscard]] int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  void reset() noexcept;
  /// Somebody else has closed it.
  void forget() noexcept { fd_ = -1; }

 private:
  int fd_ = -1;
};

/// A new open file description of the file behind `fd` (locks belong to descriptions). Throws
/// std::system_error.
UniqueFd reopen(int fd, int flags);

/// An exclusive lock of one byte of a file, owned by an open file description (F_OFD_SETLK): the kernel drops
/// it when the process dies, however it dies. A forked child does not keep it: its copies of the descriptors
/// of byte locks are closed in the child.
class ByteLock {
 public:
  ByteLock() = default;
  /// Takes over `file`, an open file description of its own for this lock. Not locked yet.
  explicit ByteLock(UniqueFd file);
  ByteLock(ByteLock&&) noexcept;
  ByteLock& operator=(ByteLock&&) noexcept;
  ~ByteLock();

  /// False: somebody else holds it. Throws std::system_error for anything but that.
  [[nodiscard]] bool try_lock(off_t byte);
  [[nodiscard]] int fd() const noexcept { return file_.get(); }
  void release() noexcept;

 private:
  UniqueFd file_;
};

/// Whether another open file description than `fd`'s holds `byte`. True also when the question cannot be
/// answered (a holder must never be taken for dead by mistake). Works on descriptors opened for reading.
bool is_byte_locked(int fd, off_t byte) noexcept;

}  // namespace tailrace
