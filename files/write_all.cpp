#include "files/write_all.hpp"

#include <unistd.h>

#include <cerrno>

namespace tailrace {

int write_all(int fd, std::span<const std::byte> bytes, WriteFunction write) noexcept {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    } else if (written == 0) {
      return EIO;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

int write_all(int fd, std::span<const std::byte> bytes) noexcept { return write_all(fd, bytes, ::write); }

}  // namespace tailrace
