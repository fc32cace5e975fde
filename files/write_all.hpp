#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>

namespace tailrace {

using WriteFunction = ssize_t (*)(int fd, const void* data, std::size_t bytes);

/// Writes everything, in as many steps as the system needs (Linux takes at most 2 GiB - 4 KiB at once).
/// Returns 0 or an errno. `write` is a parameter so that tests can inject short writes.
[[nodiscard]] int write_all(int fd, std::span<const std::byte> bytes, WriteFunction write) noexcept;
[[nodiscard]] int write_all(int fd, std::span<const std::byte> bytes) noexcept;

}  // namespace tailrace
