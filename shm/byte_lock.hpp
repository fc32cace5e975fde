#pragma once

#include <sys/types.h>

#include "os/unique_fd.hpp"

namespace tailrace {

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
