#include <algorithm>
#include <fstream>
#include <set>

#include "ctl/doctor/machine.hpp"
#include "ctl/doctor/machine_files.hpp"

namespace tailrace {
namespace {

namespace fs = std::filesystem;

// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Sun Jul …": the first number with a dot.
std::string driver_version(const std::string& line) {
  for (std::size_t at = line.find_first_of("0123456789"); at != std::string::npos;
       at = line.find_first_of("0123456789", at + 1)) {
    if (at > 0 && line[at - 1] != ' ') continue;
    std::string word = line.substr(at, line.find(' ', at) - at);
    if (word.find('.') != std::string::npos) return word;
  }
  return line;
}

std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

MachineCheck check_driver(const Machine& machine) {
  const auto line = line_with(machine.at("/proc/driver/nvidia/version"), "NVRM version:");
  if (!line)
    return {"driver", CheckLevel::kNote, "no NVIDIA driver is loaded: models run on the CPU",
            "for a GPU, install its driver (nvidia-smi must list it)"};
  std::string found = "NVIDIA " + driver_version(*line);
  for (const fs::path& gpu : folders_in(machine.at("/proc/driver/nvidia/gpus")))
    if (const auto model = line_with(gpu / "information", "Model:")) found += ", " + *model;
  return {"driver", CheckLevel::kOk, found, ""};
}

// Path of the library that a process has loaded, from its maps; empty: it has not, or that cannot be seen.
std::string loaded_library(const Machine& machine, std::int64_t pid, std::string_view name) {
  std::ifstream maps(machine.at("/proc/" + std::to_string(pid) + "/maps"));
  for (std::string line; std::getline(maps, line);) {
    const std::size_t path = line.find('/');
    if (path != std::string::npos && line.find(name, path) != std::string::npos) return line.substr(path);
  }
  return {};
}

MachineCheck check_libraries(const Machine& machine, const std::vector<RingFacts>& rings) {
  std::string found = std::string(TAILRACE_LIBTORCH_VERSION).empty()
                          ? "built without LibTorch"
                          : "built with LibTorch " TAILRACE_LIBTORCH_VERSION;
  for (const RingFacts& ring : rings) {
    const std::string path = ring.producer ? loaded_library(machine, *ring.producer, "/libtorch_cpu.so") : "";
    if (!path.empty()) found += "; " + ring.name + " uses " + path;
  }
  return {"libraries", CheckLevel::kOk, found, ""};
}

std::optional<MachineCheck> check_numa(const Machine& machine, const RingFacts& ring) {
  if (ring.numa_node < 0 || !ring.producer) return std::nullopt;
  const std::string node = std::to_string(ring.numa_node);
  const auto near = line_with(machine.at("/sys/devices/system/node/node" + node + "/cpulist"), "");
  const auto allowed =
      line_with(machine.at("/proc/" + std::to_string(*ring.producer) + "/status"), "Cpus_allowed_list:");
  if (!near || !allowed) return std::nullopt;
  const auto near_ids = id_list(*near);
  const std::set<std::uint32_t> near_cpus(near_ids.begin(), near_ids.end());
  const auto allowed_ids = id_list(*allowed);
  const bool any = std::any_of(allowed_ids.begin(), allowed_ids.end(),
                               [&](auto cpu) { return near_cpus.count(cpu) != 0; });
  if (any) return MachineCheck{"NUMA", CheckLevel::kOk, ring.name + ": its GPU is at node " + node, ""};
  return MachineCheck{"NUMA", CheckLevel::kWarning,
                      ring.name + ": its GPU is at node " + node + " (CPUs " + *near +
                          "), its producer may only run on CPUs " + *allowed,
                      "let the producer run near its GPU: AllowedCPUs= or NUMAPolicy=bind, NUMAMask=" + node +
                          " in a drop-in of its unit"};
}

std::optional<MachineCheck> check_governor(const Machine& machine) {
  const auto governor = first_line(machine.at("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"));
  if (!governor) return std::nullopt;
  if (*governor != "powersave") return MachineCheck{"CPU governor", CheckLevel::kOk, *governor, ""};
  return MachineCheck{"CPU governor", CheckLevel::kNote, "powersave: CPUs that sleep often wake slowly",
                      "`cpupower frequency-set -g performance`, if hand-over latency matters"};
}

// The kernel's own reading of the time; others make each look at a clock a system call.
bool is_fast(const std::string& source) {
  return source == "tsc" || source == "kvm-clock" || source == "arch_sys_counter" ||
         source.starts_with("hyperv_clocksource_tsc");
}

std::optional<MachineCheck> check_clock(const Machine& machine) {
  const auto source =
      first_line(machine.at("/sys/devices/system/clocksource/clocksource0/current_clocksource"));
  if (!source) return std::nullopt;
  if (is_fast(*source)) return MachineCheck{"clock", CheckLevel::kOk, *source, ""};
  return MachineCheck{"clock", CheckLevel::kNote, *source + ": reading the time is slow",
                      "boot with clocksource=tsc where the CPU's is stable (dmesg says why it was given up)"};
}

}  // namespace

std::vector<MachineCheck> check_device(const Machine& machine, const std::vector<RingFacts>& rings) {
  std::vector<MachineCheck> checks{check_driver(machine), check_libraries(machine, rings)};
  for (const RingFacts& ring : rings)
    if (auto check = check_numa(machine, ring)) checks.push_back(*check);
  if (auto check = check_governor(machine)) checks.push_back(*check);
  if (auto check = check_clock(machine)) checks.push_back(*check);
  return checks;
}

}  // namespace tailrace
