#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <span>

namespace tailrace {

/// What pages memory really got, whatever was asked for.
struct PageReport {
  std::uint64_t resident_bytes = 0;   // mapped so far, in this process
  std::uint64_t huge_bytes = 0;       // of these, in pages of huge_page_bytes
  std::uint64_t huge_page_bytes = 0;  // 0: there are none
  std::uint64_t base_page_bytes = 0;

  /// The size of most of the pages.
  [[nodiscard]] std::uint64_t page_bytes() const noexcept {
    return huge_bytes > resident_bytes / 2 ? huge_page_bytes : base_page_bytes;
  }
};

/// From this process's /proc/self/smaps, for the mappings that `memory` lies in; walks their page tables, so
/// not for every batch. Where there is no such file the report counts nothing.
PageReport report_pages(std::span<const std::byte> memory);

/// The same from a text of that form (proc_pid_smaps(5)) for the addresses from `begin` up to `end`;
/// `pmd_page_bytes` is the size of a transparent huge page.
PageReport read_page_report(std::istream& smaps, std::uintptr_t begin, std::uintptr_t end,
                            std::uint64_t pmd_page_bytes);

}  // namespace tailrace
