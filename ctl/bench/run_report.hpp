#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tailrace {

/// What a producer found out about its run, or about the window of it that was measured: the file that
/// `profile.report` names.
struct RunReport {
  std::string strategy;
  std::string device;  // "cpu", "cuda:0 (NVIDIA H200)"
  std::string precision;
  std::string model;
  std::uint64_t batch_size = 0;
  std::uint64_t steps = 0;
  std::uint64_t bytes = 0;  // of all steps
  double wall_s = 0;
  double steps_per_s = 0;
  double bytes_per_s = 0;       // into slots, or to the sinks in the producer
  double gpu_busy = 0;          // 0 to 1; on the CPU: how much of the time the model ran
  double link_bytes_per_s = 0;  // from the device into pinned memory, at its best; 0 = there is no link
  bool left_out = false;        // some items were skipped or set aside
  nlohmann::ordered_json json;  // everything the producer wrote

  [[nodiscard]] std::uint64_t batch_bytes() const { return steps == 0 ? 0 : bytes / steps; }
  [[nodiscard]] bool on_gpu() const { return device.starts_with("cuda"); }
  /// How much of what the link could carry was used; 0 without a link.
  [[nodiscard]] double link_share() const {
    return link_bytes_per_s > 0 ? bytes_per_s / link_bytes_per_s : 0;
  }
};

/// Throws std::runtime_error: what is missing in `text` or wrong with it; `name` is the file's.
RunReport parse_run_report(const std::string& text, const std::string& name);

/// Throws std::runtime_error, also where there is no such file.
RunReport read_run_report(const std::filesystem::path& file);

/// The one in the middle by steps_per_s; the slower of two. Precondition: there is one.
const RunReport& median_run(const std::vector<RunReport>& reports);

/// "cuda:0 (NVIDIA H200)"; "the CPU" for any description of a CPU, which may hold the reason why there is no
/// GPU.
std::string device_text(const std::string& device);

/// "deeplabv3_resnet50 (tf32), 64 items a batch, on cuda:0 (NVIDIA H200)"
std::string describe(const RunReport& report);

}  // namespace tailrace
