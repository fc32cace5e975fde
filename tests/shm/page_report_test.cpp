#include "shm/page_report.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <sstream>

#include "tests/shm/mounted_folder.hpp"

namespace tailrace {
namespace {

constexpr std::uint64_t kHuge = 2U << 20;

// One mapping of 12 MiB as proc_pid_smaps(5) shows it, with a line more for each `extra`.
std::string mapping(const std::string& addresses, std::uint64_t page_kb, std::uint64_t rss_kb,
                    const std::string& extra) {
  return addresses +
         " rw-s 00000000 00:27 2   /dev/shm/tailrace.a b.data\nSize:   12288 kB\nKernelPageSize:   " +
         std::to_string(page_kb) + " kB\nMMUPageSize:   " + std::to_string(page_kb) +
         " kB\nRss:   " + std::to_string(rss_kb) + " kB\n" + extra +
         "THPeligible:           1\nVmFlags: rd wr sh mr mw me ms hg \n";
}

PageReport read(const std::string& text) {
  std::istringstream smaps(text);
  return read_page_report(smaps, 0x10000000, 0x10c00000, kHuge);
}

TEST(PagesReported, AreSmallWhereNothingIsHuge) {
  const PageReport report = read(mapping("10000000-10c00000", 4, 12288, "ShmemPmdMapped:    0 kB\n"));
  EXPECT_EQ(report.resident_bytes, 12U << 20);
  EXPECT_EQ(report.huge_bytes, 0U);
  EXPECT_EQ(report.page_bytes(), static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)));
}

TEST(PagesReported, AreHugeWhereMostOfThemAre) {
  const PageReport report = read(mapping("10000000-10c00000", 4, 12288, "ShmemPmdMapped:    10240 kB\n"));
  EXPECT_EQ(report.huge_bytes, 10U << 20);
  EXPECT_EQ(report.page_bytes(), kHuge);
  EXPECT_LT(read(mapping("10000000-10c00000", 4, 12288, "ShmemPmdMapped:    4096 kB\n")).page_bytes(), kHuge);
}

TEST(PagesReported, OfHugetlbfsAreThoseOfItsMount) {
  const PageReport report = read(
      mapping("10000000-50000000", 1048576, 0, "Shared_Hugetlb:   1048576 kB\nPrivate_Hugetlb:  0 kB\n"));
  EXPECT_EQ(report.page_bytes(), 1ULL << 30);
  EXPECT_EQ(report.resident_bytes, 1ULL << 30);
}

TEST(PagesReported, AreThoseOfAllMappingsInTheRangeAndOfNoOther) {
  const std::string other = "ShmemPmdMapped:   999 kB\n";
  const PageReport report =
      read(mapping("0f000000-10000000", 4, 999, other) + mapping("10000000-10400000", 4, 4096, "") +
           mapping("10400000-10c00000", 4, 8192, "") + mapping("10c00000-11800000", 2048, 999, other));
  EXPECT_EQ(report.resident_bytes, 12U << 20);
  EXPECT_EQ(report.huge_bytes, 0U);
}

TEST(PagesReported, OfATextThatIsNotSmapsAreNone) {
  EXPECT_EQ(read("").resident_bytes, 0U);
  EXPECT_EQ(read("10000000-\nRss: many kB\n\n").resident_bytes, 0U);
}

TEST(PagesReported, AreThoseThatTheMappingReallyHas) {
  const testing::MountedFolder folder("tmpfs", "size=16m,huge=never");
  if (!folder.problem().empty()) GTEST_SKIP() << folder.problem();
  const auto file = MappedFile::create(folder.path() / "f", 8U << 20, 4U << 20, 0600, std::nullopt);
  ASSERT_FALSE(populate({file.fd(), 0, file.bytes().first(4U << 20)}));
  const PageReport report = report_pages(file.bytes());
  EXPECT_EQ(report.resident_bytes, 4U << 20);
  EXPECT_EQ(report.page_bytes(), static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)));
}

}  // namespace
}  // namespace tailrace
