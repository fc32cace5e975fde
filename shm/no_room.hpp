#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <system_error>

namespace tailrace {

/// Bytes that the file at `fd` could have: what it has, and what its file system has left. Empty: no limit is
/// known.
std::optional<std::uint64_t> bytes_there(int fd) noexcept;

/// The size of a page of the hugetlbfs that the file at `fd` is on; empty: it is on another file system.
std::optional<std::uint64_t> hugetlbfs_page_bytes(int fd) noexcept;

/// The error, ENOSPC, for a file that cannot have its `wanted_bytes`: how much is wanted, how much is there,
/// and how to get more; on hugetlbfs in huge pages. `path` is for the message.
std::system_error no_room(int fd, const std::filesystem::path& path, std::uint64_t wanted_bytes);

}  // namespace tailrace
