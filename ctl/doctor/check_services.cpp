#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "config/instance.hpp"
#include "ctl/doctor/machine.hpp"
#include "ctl/doctor/machine_files.hpp"

namespace tailrace {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kGenerated = "/run/systemd/generator";
constexpr std::uint32_t kFirstLoginUid = 1000;  // logind leaves the files of system users alone

// logind's own file, then drop-ins by name; the last word counts.
std::vector<fs::path> logind_files(const Machine& machine) {
  std::map<std::string, fs::path> by_name;
  for (const char* folder :
       {"/usr/lib/systemd/logind.conf.d", "/run/systemd/logind.conf.d", "/etc/systemd/logind.conf.d"}) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(machine.at(folder), ignored))
      if (entry.path().extension() == ".conf") by_name[entry.path().filename()] = entry.path();
  }
  std::vector<fs::path> files{machine.at("/etc/systemd/logind.conf")};
  for (const auto& [name, path] : by_name) files.push_back(path);
  return files;
}

bool logind_removes(const Machine& machine) {
  std::error_code ignored;
  if (!fs::exists(machine.at("/run/systemd/seats"), ignored)) return false;  // no logind
  bool removes = true;                                                       // its default
  for (const fs::path& file : logind_files(machine))
    if (const auto value = line_with(file, "RemoveIPC="))
      removes = *value != "no" && *value != "false" && *value != "off" && *value != "0";
  return removes;
}

std::string user_name(const Machine& machine, std::uint32_t uid) {
  std::ifstream users(machine.at("/etc/passwd"));
  std::string wanted = std::to_string(uid);
  for (std::string line; std::getline(users, line);) {
    std::istringstream fields(line);
    std::string name;
    std::string password;
    std::string id;
    std::getline(std::getline(std::getline(fields, name, ':'), password, ':'), id, ':');
    if (id == wanted) return name;
  }
  return wanted;
}

std::optional<MachineCheck> check_remove_ipc(const Machine& machine, const RingFacts& ring) {
  if (!ring.uid) return std::nullopt;
  const std::string user = user_name(machine, *ring.uid);
  const std::string found = ring.name + ": its files belong to " + user;
  std::error_code ignored;
  if (*ring.uid < kFirstLoginUid || !logind_removes(machine) ||
      fs::exists(machine.at("/var/lib/systemd/linger/" + user), ignored))
    return MachineCheck{"RemoveIPC", CheckLevel::kOk, found, ""};
  return MachineCheck{
      "RemoveIPC", CheckLevel::kWarning,
      found + "; logind deletes them at that user's last logout, and the ring has to be made anew",
      "`loginctl enable-linger " + user +
          "`, RemoveIPC=no in /etc/systemd/logind.conf, or run it as a "
          "service"};
}

using Properties = std::map<std::string, std::string>;

// What `systemctl show` says of several units: blocks of NAME=VALUE with empty lines between.
std::vector<Properties> read_units(const std::string& text) {
  std::vector<Properties> units(1);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = line.find('=');
    if (line.empty() && !units.back().empty()) units.emplace_back();
    if (equals != std::string::npos) units.back()[line.substr(0, equals)] = line.substr(equals + 1);
  }
  if (units.back().empty()) units.pop_back();
  return units;
}

// Of the units that are loaded; nothing where the manager does not answer.
std::string show_units(const Machine& machine) {
  try {
    return machine.systemctl(
        {"show", "--no-pager",
         "--property=Id,ActiveState,Result,NRestarts,LimitMEMLOCK,WatchdogUSec,DropInPaths",
         producer_unit("*"), consumer_unit("*", "*", "*"), "tailrace-exporter.service"});
  } catch (const std::exception&) {
    return {};
  }
}

std::string of(const Properties& unit, const std::string& name) {
  const auto found = unit.find(name);
  return found == unit.end() ? std::string{} : found->second;
}

// The drop-ins of an administrator: the generator's are no change.
std::string own_drop_ins(const Properties& unit) {
  std::istringstream paths(of(unit, "DropInPaths"));
  std::string own;
  for (std::string path; paths >> path;)
    if (!path.starts_with(kGenerated)) own += (own.empty() ? "" : " ") + path;
  return own;
}

MachineCheck check_unit(const Properties& unit) {
  const std::string name = of(unit, "Id");
  std::string found = name + ": " + of(unit, "ActiveState");
  const std::string restarts = of(unit, "NRestarts");
  if (!restarts.empty() && restarts != "0") found += ", restarted " + restarts + " times";
  if (const std::string paths = own_drop_ins(unit); !paths.empty()) found += ", changed by " + paths;
  if (of(unit, "ActiveState") == "failed")
    return {
        "unit", CheckLevel::kWarning, found + " (" + of(unit, "Result") + ")",
        "`journalctl -u " + name + "` says why; `systemctl reset-failed " + name + "`, then start it again"};
  if (name.starts_with("tailrace-producer@") && of(unit, "LimitMEMLOCK") != "infinity")
    return {"unit", CheckLevel::kWarning, found + ", LimitMEMLOCK=" + of(unit, "LimitMEMLOCK"),
            "LimitMEMLOCK=infinity, so that the ring can be pinned"};
  if (of(unit, "ActiveState") != "inactive" && name.ends_with(".service") &&
      (of(unit, "WatchdogUSec") == "0" || of(unit, "WatchdogUSec") == "infinity"))
    return {"unit", CheckLevel::kNote, found + ", without a watchdog",
            "WatchdogSec= in the unit, so that a process that hangs is restarted"};
  return {"unit", restarts.empty() || restarts == "0" ? CheckLevel::kOk : CheckLevel::kNote, found, ""};
}

}  // namespace

std::vector<MachineCheck> check_services(const Machine& machine, const std::vector<RingFacts>& rings) {
  std::vector<MachineCheck> checks;
  for (const RingFacts& ring : rings)
    if (auto check = check_remove_ipc(machine, ring)) checks.push_back(*check);
  std::error_code ignored;
  if (!machine.systemctl || !fs::exists(machine.at("/run/systemd/system"), ignored)) return checks;
  for (const Properties& unit : read_units(show_units(machine)))
    if (!of(unit, "Id").empty()) checks.push_back(check_unit(unit));
  return checks;
}

}  // namespace tailrace
