#include "shm/page_report.hpp"

#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

namespace tailrace {
namespace {

struct Range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

// Whether the line starts the next mapping: "7f41-7f42 rw-s …" and not "Rss: 4 kB".
bool starts_mapping(const std::string& line, Range& range) {
  std::istringstream text(line);
  char dash = 0;
  return static_cast<bool>(text >> std::hex >> range.begin >> dash >> range.end) && dash == '-';
}

void count(PageReport& report, const std::string& line, std::uint64_t pmd_page_bytes) {
  std::istringstream text(line);
  std::string field;
  std::uint64_t kilobytes = 0;
  if (!(text >> field >> kilobytes)) return;
  const std::uint64_t bytes = kilobytes << 10;
  if (field == "KernelPageSize:" && bytes > report.base_page_bytes)
    report.huge_page_bytes = bytes;  // hugetlbfs
  if (field == "Rss:") report.resident_bytes += bytes;
  if (field == "ShmemPmdMapped:" || field == "FilePmdMapped:") {
    report.huge_bytes += bytes;
    if (bytes != 0) report.huge_page_bytes = pmd_page_bytes;
  }
  if (field == "Shared_Hugetlb:" || field == "Private_Hugetlb:") {  // Rss leaves these out
    report.resident_bytes += bytes;
    report.huge_bytes += bytes;
  }
}

}  // namespace

PageReport read_page_report(std::istream& smaps, std::uintptr_t begin, std::uintptr_t end,
                            std::uint64_t pmd_page_bytes) {
  PageReport report;
  report.base_page_bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  bool inside = false;
  Range range;
  for (std::string line; std::getline(smaps, line);) {
    if (starts_mapping(line, range)) {
      if (range.begin >= end) break;  // mappings are sorted
      inside = range.end > begin;
    } else if (inside) {
      count(report, line, pmd_page_bytes);
    }
  }
  return report;
}

PageReport report_pages(std::span<const std::byte> memory) {
  std::uint64_t pmd_page_bytes = 0;
  std::ifstream("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size") >> pmd_page_bytes;
  std::ifstream smaps("/proc/self/smaps");
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
  return read_page_report(smaps, begin, begin + memory.size(), pmd_page_bytes);
}

}  // namespace tailrace
