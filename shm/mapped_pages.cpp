#include "shm/mapped_pages.hpp"

#include <fcntl.h>
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>

namespace tailrace {
namespace {

constexpr std::size_t kMaxNodes = 1024;  // as CONFIG_NODES_SHIFT = 10, the most that Linux has

std::error_code posix_error(int error) noexcept { return {error, std::generic_category()}; }

// Repeats what a signal, or want of a resource for the moment, cut short.
std::error_code advise(const MappedPages& pages, int advice) noexcept {
  while (madvise(pages.bytes.data(), pages.bytes.size(), advice) != 0)
    if (errno != EINTR && errno != EAGAIN) return posix_error(errno);
  return {};
}

// Kernels before 5.14 have no MADV_POPULATE_WRITE. The file gets its memory first, so that touching is safe;
// and it is touched by reading, since others may be reading, too.
std::error_code allocate_and_touch(const MappedPages& pages) noexcept {
  int error = EINTR;
  while (error == EINTR)
    error =
        posix_fallocate(pages.fd, static_cast<off_t>(pages.offset), static_cast<off_t>(pages.bytes.size()));
  if (error != 0) return posix_error(error);
  const auto page_bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  for (std::size_t at = 0; at < pages.bytes.size(); at += page_bytes)
    (void)*static_cast<const volatile std::byte*>(&pages.bytes[at]);
  return {};
}

}  // namespace

std::error_code populate(const MappedPages& pages) noexcept {
  const std::error_code error = advise(pages, MADV_POPULATE_WRITE);
  switch (error.value()) {
    case EINVAL:
      return allocate_and_touch(pages);
    case EFAULT:  // touching would have been a SIGBUS
    case ENOMEM:
      return std::make_error_code(std::errc::no_space_on_device);
    default:
      return error;
  }
}

std::error_code give_back(const MappedPages& pages) noexcept { return advise(pages, MADV_REMOVE); }

std::error_code prefer_numa_node(const MappedPages& pages, int node) noexcept {
  constexpr std::size_t kWordBits = sizeof(unsigned long) * CHAR_BIT;
  if (node < 0 || static_cast<std::size_t>(node) >= kMaxNodes) return posix_error(EINVAL);
  std::array<unsigned long, kMaxNodes / kWordBits> nodes{};
  nodes[static_cast<std::size_t>(node) / kWordBits] = 1UL << (static_cast<std::size_t>(node) % kWordBits);
  // The kernel looks at one bit less than it is told.
  const long failed = syscall(SYS_mbind, pages.bytes.data(), pages.bytes.size(), MPOL_PREFERRED, nodes.data(),
                              kMaxNodes + 1, 0);
  return failed == 0 ? std::error_code{} : posix_error(errno);
}

void ask_for_huge_pages(const MappedPages& pages) noexcept { (void)advise(pages, MADV_HUGEPAGE); }

}  // namespace tailrace
