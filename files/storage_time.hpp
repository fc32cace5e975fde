#pragma once

#include <cstdint>

namespace tailrace {

/// Time that the calling thread has spent waiting for storage since it began, in ns; goes on while a
/// StorageWait lives. Any thread, each has its own.
[[nodiscard]] std::uint64_t storage_ns() noexcept;

/// What the calling thread does while this object lives is waiting for storage: a write, fsync, a rename, a
/// pause before a write is tried again. Inside another one it adds nothing.
class StorageWait {
 public:
  StorageWait() noexcept;
  StorageWait(const StorageWait&) = delete;
  StorageWait& operator=(const StorageWait&) = delete;
  ~StorageWait();
};

}  // namespace tailrace
