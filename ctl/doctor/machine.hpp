#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "ctl/ring_report.hpp"

namespace tailrace {

enum class CheckLevel { kOk, kNote, kWarning, kCount };

inline constexpr std::array<std::string_view, static_cast<std::size_t>(CheckLevel::kCount)> kCheckLevelNames{
    "ok", "note", "warning"};

/// One thing about this machine that pipelines depend on.
struct MachineCheck {
  std::string name;
  CheckLevel level = CheckLevel::kOk;
  std::string found;
  std::string remedy;  // empty where there is nothing to do
};

/// Where the machine is looked at; tests bring trees of their own.
struct Machine {
  std::filesystem::path root = "/";
  /// What systemctl prints for these arguments; may throw std::exception. Empty: units are not looked at.
  std::function<std::string(const std::vector<std::string>& arguments)> systemctl;

  [[nodiscard]] std::filesystem::path at(const std::filesystem::path& path) const {
    return root / path.relative_path();
  }
};

/// What the checks want to know of a ring and its processes.
struct RingFacts {
  std::string name;
  std::filesystem::path data;  // its data file
  std::uint64_t bytes = 0;     // of all slots
  bool on_gpu = false;
  bool pinned = false;
  std::uint64_t page_bytes = 0;
  std::int64_t numa_node = -1;       // of the GPU
  std::optional<std::uint32_t> uid;  // who owns the files
  std::optional<std::int64_t> producer;
  std::vector<std::int64_t> processes;  // pids of all that live
};

RingFacts facts_of(const RingReport& ring, const std::filesystem::path& data);

// Each is about one matter. Nothing is changed; what cannot be read makes no check, or a note.
std::vector<MachineCheck> check_device(const Machine& machine, const std::vector<RingFacts>& rings);
std::vector<MachineCheck> check_ring_memory(const Machine& machine, const std::vector<RingFacts>& rings);
std::vector<MachineCheck> check_limits(const Machine& machine, const std::vector<RingFacts>& rings);
std::vector<MachineCheck> check_services(const Machine& machine, const std::vector<RingFacts>& rings);
/// `config`: of the pipeline that is looked at.
std::vector<MachineCheck> check_storage(const Config& config);

/// All of them. `config`: nullptr = unknown.
std::vector<MachineCheck> check_machine(const Machine& machine, const std::vector<RingFacts>& rings,
                                        const Config* config);

}  // namespace tailrace
