#include "shm/no_room.hpp"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <string>

namespace tailrace {
namespace {

constexpr std::uint64_t kStatBlockBytes = 512;  // the unit of st_blocks

std::uint64_t number_in(const std::string& file) {
  std::uint64_t number = 0;
  std::ifstream(file) >> number;
  return number;
}

std::string huge_page_text(std::uint64_t wanted_bytes, std::uint64_t page_bytes) {
  const std::string size = std::to_string(page_bytes >> 10) + "kB";
  const std::string folder = "/sys/kernel/mm/hugepages/hugepages-" + size + "/";
  const std::uint64_t wanted = (wanted_bytes + page_bytes - 1) / page_bytes;
  const std::uint64_t free = number_in(folder + "free_hugepages");
  const std::uint64_t there = free - std::min(free, number_in(folder + "resv_hugepages"));
  const std::uint64_t total = number_in(folder + "nr_hugepages") + wanted - std::min(wanted, there);
  return std::to_string(wanted) + " huge pages of " + size + " are wanted, " + std::to_string(there) +
         " are free; reserve them with: echo " + std::to_string(total) + " > " + folder +
         "nr_hugepages, or make the ring smaller (ring.slots, ring.slot_bytes)";
}

std::string plain_text(std::optional<std::uint64_t> there) {
  return (there ? std::to_string(*there) + " bytes are free there" : "there is not enough memory") +
         "; enlarge the file system (mount -o remount,size=… for a tmpfs, --shm-size for a container), "
         "remove old "
         "rings (tailrace clean), or make the ring smaller (ring.slots, ring.slot_bytes)";
}

}  // namespace

std::optional<std::uint64_t> bytes_there(int fd) noexcept {
  struct statvfs space {};
  struct stat file {};
  // A tmpfs or hugetlbfs without a limit has 0 blocks.
  if (fstatvfs(fd, &space) != 0 || space.f_blocks == 0 || fstat(fd, &file) != 0) return std::nullopt;
  return space.f_bavail * space.f_frsize + static_cast<std::uint64_t>(file.st_blocks) * kStatBlockBytes;
}

std::optional<std::uint64_t> hugetlbfs_page_bytes(int fd) noexcept {
  struct statfs system {};
  if (fstatfs(fd, &system) != 0 || system.f_type != HUGETLBFS_MAGIC) return std::nullopt;
  return static_cast<std::uint64_t>(system.f_bsize);
}

std::system_error no_room(int fd, const std::filesystem::path& path, std::uint64_t wanted_bytes) {
  const auto page_bytes = hugetlbfs_page_bytes(fd);
  return {ENOSPC, std::generic_category(),
          "cannot allocate " + std::to_string(wanted_bytes) + " bytes for " + path.string() + ": " +
              (page_bytes ? huge_page_text(wanted_bytes, *page_bytes) : plain_text(bytes_there(fd)))};
}

}  // namespace tailrace
