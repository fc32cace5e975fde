#include <sys/statvfs.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "config/quantities.hpp"
#include "ctl/doctor/machine.hpp"
#include "ctl/doctor/machine_files.hpp"

namespace tailrace {
namespace {

constexpr double kLittle = 0.05;  // free share of a file system for rings
constexpr std::uint64_t kSmallPage = 64U << 10;

std::string size(std::uint64_t bytes) { return rounded_size_text(bytes); }

std::set<std::string> ring_folders(const std::vector<RingFacts>& rings) {
  std::set<std::string> folders{"/dev/shm"};
  for (const RingFacts& ring : rings) folders.insert(ring.data.parent_path().string());
  return folders;
}

std::optional<MachineCheck> check_room(const Machine& machine, const std::string& folder) {
  struct statvfs status {};
  if (statvfs(machine.at(folder).c_str(), &status) != 0) return std::nullopt;
  const std::uint64_t all = std::uint64_t{status.f_blocks} * status.f_frsize;
  const std::uint64_t free = std::uint64_t{status.f_bavail} * status.f_frsize;
  const std::string found = folder + ": " + size(free) + " of " + size(all) + " free";
  if (static_cast<double>(free) >= kLittle * static_cast<double>(all))
    return MachineCheck{"ring memory", CheckLevel::kOk, found, ""};
  return MachineCheck{
      "ring memory", CheckLevel::kWarning, found,
      "`tailrace clean` removes rings of the dead; `mount -o remount,size=… " + folder + "` makes it larger"};
}

// The options of the mount that `folder` lies in, from proc_pid_mounts(5).
std::string mount_options(const Machine& machine, const std::string& folder) {
  std::ifstream stream(machine.at("/proc/self/mounts"));
  std::string best;
  std::string options;
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    std::string device;
    std::string place;
    std::string type;
    std::string with;
    words >> device >> place >> type >> with;
    const bool holds =
        folder == place || (folder.starts_with(place) && (place == "/" || folder[place.size()] == '/'));
    if (!holds || place.size() < best.size()) continue;
    best = place;
    options = ",";
    options.append(type).append(",").append(with).append(",");
  }
  return options;
}

bool gives_huge_pages(const std::string& options) {
  return options.find(",hugetlbfs,") != std::string::npos ||
         options.find(",huge=always") != std::string::npos ||
         options.find(",huge=within_size") != std::string::npos ||
         options.find(",huge=advise") != std::string::npos;
}

// Only a ring that is pinned, or made anew for each batch, notices.
std::optional<MachineCheck> check_pages(const Machine& machine, const RingFacts& ring) {
  if (!ring.on_gpu || ring.page_bytes == 0) return std::nullopt;
  const std::string folder = ring.data.parent_path().string();
  const std::string found = ring.name + ": pages of " + size(ring.page_bytes);
  if (ring.page_bytes >= kSmallPage) return MachineCheck{"huge pages", CheckLevel::kOk, found, ""};
  const auto enabled = first_line(machine.at("/sys/kernel/mm/transparent_hugepage/shmem_enabled"));
  if (enabled && chosen_word(*enabled) == "deny")
    return MachineCheck{
        "huge pages", CheckLevel::kNote, found + "; the kernel denies huge ones to shared memory",
        "`echo advise > /sys/kernel/mm/transparent_hugepage/shmem_enabled` (docs/huge_pages.md)"};
  if (gives_huge_pages(mount_options(machine, folder)))
    return MachineCheck{"huge pages", CheckLevel::kNote,
                        found + " although " + folder + " would give huge ones: memory was too fragmented",
                        "`echo 1 > /proc/sys/vm/compact_memory`, then restart the pipeline with a new ring"};
  return MachineCheck{
      "huge pages", CheckLevel::kNote, found + ": a start takes several times as long",
      "`mount -o remount,huge=within_size " + folder + "`, or ring.directory (docs/huge_pages.md)"};
}

}  // namespace

std::vector<MachineCheck> check_ring_memory(const Machine& machine, const std::vector<RingFacts>& rings) {
  std::vector<MachineCheck> checks;
  for (const std::string& folder : ring_folders(rings))
    if (auto check = check_room(machine, folder)) checks.push_back(*check);
  for (const RingFacts& ring : rings)
    if (auto check = check_pages(machine, ring)) checks.push_back(*check);
  return checks;
}

}  // namespace tailrace
