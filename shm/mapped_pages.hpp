#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <system_error>

namespace tailrace {

/// Part of a file that is mapped shared and writable, for telling the kernel what to do with its pages.
/// A view: the file stays open and mapped. `bytes` starts on a page boundary.
struct MappedPages {
  int fd = -1;
  std::uint64_t offset = 0;  // of bytes.front() in the file
  std::span<std::byte> bytes;

  /// Precondition: from + count <= bytes.size().
  [[nodiscard]] MappedPages part(std::uint64_t from, std::uint64_t count) const noexcept {
    return {fd, offset + from, bytes.subspan(from, count)};
  }
};

/// Gives the pages their memory, zero where they had none, and maps them, so that no later access can find
/// the file system full (SIGBUS). Keeps what the pages hold, also while others read it. No room is
/// std::errc::no_space_on_device. A memory limit of the process's cgroup cannot be told from here: there the
/// kernel kills instead. Any thread; several may work on different parts.
[[nodiscard]] std::error_code populate(const MappedPages& pages) noexcept;

/// Gives the memory back to the kernel: the pages read as zero until they are populated or touched again.
/// Where the file system has larger pages, those that lie partly outside are zeroed and kept.
[[nodiscard]] std::error_code give_back(const MappedPages& pages) noexcept;

/// Has memory that is yet to be allocated for these pages come from NUMA node `node`, or from another one
/// when that is full. Holds for the file, whichever process touches it. Needs no right on most systems;
/// containers may forbid it (EPERM).
[[nodiscard]] std::error_code prefer_numa_node(const MappedPages& pages, int node) noexcept;

/// Asks for huge pages where the file system leaves that to its users (tmpfs mounted with huge=advise);
/// harmless elsewhere.
void ask_for_huge_pages(const MappedPages& pages) noexcept;

}  // namespace tailrace
