#include <sys/statfs.h>
#include <sys/statvfs.h>

#include "config/memory_check.hpp"
#include "config/quantities.hpp"
#include "ctl/doctor/machine.hpp"
#include "ledger/network_file_system.hpp"

namespace tailrace {
namespace {

namespace fs = std::filesystem;

constexpr double kLittle = 0.05;

/// The folder itself, or the nearest one above it that is there.
fs::path existing(fs::path folder) {
  std::error_code ignored;
  while (!fs::exists(folder, ignored) && folder.has_relative_path()) folder = folder.parent_path();
  return folder;
}

MachineCheck check_state(const std::string& folder) {
  struct statfs status {};
  const char* network =
      statfs(existing(folder).c_str(), &status) == 0 ? network_file_system(status.f_type) : nullptr;
  if (network == nullptr) return {"state", CheckLevel::kOk, folder + ": on a local file system", ""};
  return {"state", CheckLevel::kWarning, folder + ": on " + network + ", where the ledger cannot be",
          "pipeline.state on a local file system"};
}

std::optional<MachineCheck> check_room(const std::string& name, const std::string& folder) {
  struct statvfs status {};
  if (statvfs(existing(folder).c_str(), &status) != 0 || status.f_blocks == 0) return std::nullopt;
  const std::uint64_t free = std::uint64_t{status.f_bavail} * status.f_frsize;
  const double share = static_cast<double>(status.f_bavail) / static_cast<double>(status.f_blocks);
  const bool no_files = status.f_files != 0 && status.f_favail == 0;
  const std::string found =
      folder + ": " + rounded_size_text(free) + " free" + (no_files ? ", but not one more file" : "");
  if (share >= kLittle && !no_files) return MachineCheck{name, CheckLevel::kOk, found, ""};
  return MachineCheck{name, CheckLevel::kWarning, found,
                      "make room: consumers wait with a full disk, and give up after 30 s"};
}

}  // namespace

std::vector<MachineCheck> check_storage(const Config& config) {
  std::vector<MachineCheck> checks{check_state(config.pipeline.state)};
  if (auto room = check_room("state", config.pipeline.state)) checks.push_back(*room);
  for (const GroupConfig& group : config.groups)
    if (!group.sink.path.empty())
      if (auto room = check_room("output of " + group.name, group.sink.path)) checks.push_back(*room);
  for (const MemoryCheck& memory : check_memory(config, read_memory_facts(config.ring.directory)))
    if (!memory.remedy.empty())
      checks.push_back(
          {memory.place, CheckLevel::kWarning, memory.remedy, "tailrace validate shows all of it"});
  return checks;
}

}  // namespace tailrace
