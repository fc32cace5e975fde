#include <algorithm>
#include <cstdlib>

#include "config/quantities.hpp"
#include "ctl/doctor/machine.hpp"
#include "ctl/doctor/machine_files.hpp"
#include "ctl/figures_text.hpp"

namespace tailrace {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kCapIpcLock = 14;
constexpr double kPressed = 10;  // percent of the time that somebody waits for memory

std::string size(std::uint64_t bytes) { return rounded_size_text(bytes); }

fs::path process(const Machine& machine, std::int64_t pid) {
  return machine.at("/proc/" + std::to_string(pid));
}

bool may_lock_everything(const fs::path& process) {
  const auto capabilities = line_with(process / "status", "CapEff:");
  return capabilities && ((number_in(*capabilities, 16).value_or(0) >> kCapIpcLock) & 1) != 0;
}

// Empty: no limit, or unknown.
std::optional<std::uint64_t> memlock_limit(const fs::path& process) {
  const auto limits = line_with(process / "limits", "Max locked memory");
  return limits && !may_lock_everything(process) ? number_in(*limits) : std::nullopt;
}

std::optional<MachineCheck> check_memlock(const Machine& machine, const RingFacts& ring) {
  if (!ring.on_gpu || !ring.producer) return std::nullopt;
  const auto limit = memlock_limit(process(machine, *ring.producer));
  if (ring.pinned && (!limit || *limit >= ring.bytes))
    return MachineCheck{"locked memory", CheckLevel::kOk,
                        ring.name + ": its ring of " + size(ring.bytes) + " is pinned", ""};
  const std::string limit_text = limit ? size(*limit) : "none that binds";
  return MachineCheck{
      "locked memory", CheckLevel::kWarning,
      ring.name + ": its ring of " + size(ring.bytes) + (ring.pinned ? " is" : " is not") +
          " pinned; the producer's limit (RLIMIT_MEMLOCK): " + limit_text,
      "LimitMEMLOCK=infinity in its unit, `ulimit -l unlimited` in a shell, --ulimit memlock=-1 for a "
      "container; and egress.strategy = \"streams\""};
}

/// The smallest limit from the process's cgroup up. Empty: none.
std::optional<std::uint64_t> cgroup_limit(const Machine& machine, std::int64_t pid, const char* file) {
  const auto group = line_with(process(machine, pid) / "cgroup", "0::/");
  if (!group) return std::nullopt;
  const fs::path root = machine.at("/sys/fs/cgroup");
  std::optional<std::uint64_t> least;
  for (fs::path folder = root / *group;; folder = folder.parent_path()) {
    const auto text = first_line(folder / file);
    const auto limit = text ? number_in(*text) : std::nullopt;
    if (limit) least = std::min(*limit, least.value_or(*limit));
    if (folder == root || folder == folder.parent_path()) return least;
  }
}

// CPUs that the process may use, from cpu.max: "200000 100000" is 2. Empty: all.
std::optional<double> cpu_quota(const Machine& machine, std::int64_t pid) {
  const auto group = line_with(process(machine, pid) / "cgroup", "0::/");
  const auto text = group ? first_line(machine.at("/sys/fs/cgroup") / *group / "cpu.max") : std::nullopt;
  const auto quota = text ? number_in(*text) : std::nullopt;
  const auto period = quota ? number_in(text->substr(text->find(' ') + 1)) : std::nullopt;
  return quota && period && *period != 0
             ? std::optional(static_cast<double>(*quota) / static_cast<double>(*period))
             : std::nullopt;
}

void check_cgroup(const Machine& machine, const RingFacts& ring, std::vector<MachineCheck>& checks) {
  for (const std::int64_t pid : ring.processes) {
    const std::string who = ring.name + ", pid " + std::to_string(pid);
    const auto limit = cgroup_limit(machine, pid, "memory.max");
    if (limit && *limit < ring.bytes)
      checks.push_back({"cgroup", CheckLevel::kWarning,
                        who + ": may have " + size(*limit) + ", the ring alone is " + size(ring.bytes),
                        "MemoryMax= of the unit or slice, --memory of the container"});
    if (const auto cpus = cpu_quota(machine, pid))
      checks.push_back({"cgroup", CheckLevel::kNote, who + ": may use " + rate_text(*cpus) + " CPUs",
                        "CPUQuota= of the unit, --cpus of the container, if it is busy all the time"});
  }
}

std::optional<MachineCheck> check_overcommit(const Machine& machine) {
  const auto mode = first_line(machine.at("/proc/sys/vm/overcommit_memory"));
  if (!mode || *mode != "2") return std::nullopt;
  return MachineCheck{
      "overcommit", CheckLevel::kNote,
      "the kernel grants only memory that is there (vm.overcommit_memory = 2); LibTorch reserves much",
      "`sysctl vm.overcommit_memory=0`, if processes fail to start for want of memory"};
}

std::optional<MachineCheck> check_pressure(const Machine& machine) {
  const auto line = line_with(machine.at("/proc/pressure/memory"), "some avg10=");
  if (!line) return std::nullopt;
  const double percent = std::atof(line->c_str());
  if (percent < kPressed) return MachineCheck{"memory pressure", CheckLevel::kOk, "none", ""};
  return MachineCheck{"memory pressure", CheckLevel::kWarning,
                      "somebody waits for memory " + percent_text(percent / 100) + " of the time",
                      "the machine is short of memory: fewer processes, fewer slots, or less of other work"};
}

}  // namespace

std::vector<MachineCheck> check_limits(const Machine& machine, const std::vector<RingFacts>& rings) {
  std::vector<MachineCheck> checks;
  for (const RingFacts& ring : rings) {
    if (auto check = check_memlock(machine, ring)) checks.push_back(*check);
    check_cgroup(machine, ring, checks);
  }
  if (auto check = check_overcommit(machine)) checks.push_back(*check);
  if (auto check = check_pressure(machine)) checks.push_back(*check);
  return checks;
}

}  // namespace tailrace
