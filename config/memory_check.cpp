#include "config/memory_check.hpp"

#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>

#include "config/quantities.hpp"
#include "config/text.hpp"
#include "shm/control_layout.hpp"
#include "shm/ring_making.hpp"

namespace tailrace {
namespace {

namespace fs = std::filesystem;

// linux/magic.h has no name for the second one in every version.
constexpr std::array<unsigned long, 3> kInMemory{0x01021994, 0x958458f6,
                                                 0x858458f6};  // tmpfs, hugetlbfs, ramfs
constexpr unsigned kCapIpcLock = 14;

std::optional<std::uint64_t> directory_free_bytes(const std::string& directory) {
  struct statvfs status {};
  if (statvfs(directory.c_str(), &status) != 0) return std::nullopt;
  return static_cast<std::uint64_t>(status.f_bavail) * status.f_frsize;
}

/// The rest of the line of `file` that starts with `prefix`.
std::optional<std::string> line_after(const fs::path& file, std::string_view prefix) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);)
    if (line.starts_with(prefix)) return line.substr(prefix.size());
  return std::nullopt;
}

template <class T>
std::optional<T> number_in(std::string_view text, int base) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  T number{};
  const auto error = std::from_chars(text.data(), text.data() + text.size(), number, base).ec;
  return error == std::errc{} ? std::optional<T>(number) : std::nullopt;
}

std::optional<std::uint64_t> cgroup_limit_bytes() {
  const auto group = line_after("/proc/self/cgroup", "0::/");
  if (!group) return std::nullopt;
  const fs::path root = "/sys/fs/cgroup";
  std::optional<std::uint64_t> least;
  for (fs::path folder = root / *group;; folder = folder.parent_path()) {
    const auto text = line_after(folder / "memory.max", "");
    const auto limit = text ? number_in<std::uint64_t>(*text, 10) : std::nullopt;
    if (limit) least = std::min(limit, least ? least : limit);
    if (folder == root || !folder.has_relative_path()) return least;
  }
}

bool may_lock_everything() {
  const auto text = line_after("/proc/self/status", "CapEff:");
  const auto capabilities = text ? number_in<std::uint64_t>(*text, 16) : std::nullopt;
  return capabilities && ((*capabilities >> kCapIpcLock) & 1) != 0;
}

std::optional<std::uint64_t> memlock_bytes() {
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || may_lock_everything())
    return std::nullopt;
  return limit.rlim_cur;
}

std::string slots_remedy(const RingConfig& ring, std::uint64_t there) {
  const std::uint64_t header = data_file_bytes(0, 0);
  const std::uint64_t fitting = (std::max(there, header) - header) / slot_stride_for(*ring.slot_bytes);
  return fitting == 0 ? "make ring.slot_bytes smaller"
                      : "set ring.slots to at most " + std::to_string(fitting);
}

std::string directory_remedy(const RingConfig& ring, std::uint64_t need, std::uint64_t there) {
  return "needs " + rounded_size_text(need) + ", but " + quote(ring.directory) + " has " +
         rounded_size_text(there) +
         " left: enlarge it (mount -o remount,size=… for a tmpfs, --shm-size for a " +
         "container), remove old rings (tailrace clean), or " + slots_remedy(ring, there);
}

std::string cgroup_remedy(const RingConfig& ring, std::uint64_t need, std::uint64_t there) {
  return "needs " + rounded_size_text(need) + " for the ring alone, but the cgroup's limit is " +
         rounded_size_text(there) + ": raise it (MemoryMax= of the service, --memory for a container), or " +
         slots_remedy(ring, there);
}

std::string memlock_remedy(const RingConfig& ring, std::uint64_t need, std::uint64_t there) {
  return "needs " + rounded_size_text(need) + " to pin the ring, but RLIMIT_MEMLOCK is " +
         rounded_size_text(there) +
         ": raise it (LimitMEMLOCK=infinity in the service, ulimit -l unlimited, " +
         "--ulimit memlock=-1 for a container), or " + slots_remedy(ring, there);
}

}  // namespace

MemoryFacts read_memory_facts(const std::string& ring_directory) {
  std::error_code ignored;
  return {directory_free_bytes(ring_directory), cgroup_limit_bytes(), memlock_bytes(),
          fs::exists("/dev/nvidiactl", ignored)};
}

std::optional<std::uint64_t> ring_bytes(const RingConfig& ring) {
  if (!ring.slot_bytes) return std::nullopt;
  return data_file_bytes(ring.slots, slot_stride_for(*ring.slot_bytes));
}

std::optional<std::string> directory_warning(const std::string& ring_directory) {
  struct statfs system {};
  if (::statfs(ring_directory.c_str(), &system) != 0) return std::nullopt;
  const auto type = static_cast<unsigned long>(system.f_type) & 0xffffffff;
  if (std::find(kInMemory.begin(), kInMemory.end(), type) != kInMemory.end()) return std::nullopt;
  return "ring.directory: " + quote(ring_directory) +
         " is not in memory (a tmpfs, as /dev/shm, or hugetlbfs): the kernel writes every batch to its disk, "
         "too, which slows the pipeline and wears the disk";
}

std::vector<MemoryCheck> check_memory(const Config& config, const MemoryFacts& facts) {
  using Remedy = std::string (*)(const RingConfig&, std::uint64_t, std::uint64_t);
  const auto need = ring_bytes(config.ring);
  std::vector<MemoryCheck> checks;
  const auto add = [&](const std::string& place, std::optional<std::uint64_t> there, Remedy remedy) {
    const bool short_of = need && there && *need > *there;
    checks.push_back({place, there, short_of ? remedy(config.ring, *need, *there) : ""});
  };
  add("ring.directory", facts.directory_free_bytes, directory_remedy);
  add("cgroup memory", facts.cgroup_limit_bytes, cgroup_remedy);
  const auto device = config.pipeline.device.kind;
  if (copies_overlap(config.egress.strategy) &&
      (device == DeviceConfig::Kind::kCuda || (device == DeviceConfig::Kind::kAuto && facts.cuda_device)))
    add("locked memory", facts.memlock_bytes, memlock_remedy);
  return checks;
}

}  // namespace tailrace
