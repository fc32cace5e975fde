#include "ctl/bench/python_queue.hpp"

#include <filesystem>

#include "ctl/bench/program_output.hpp"

namespace tailrace {
namespace {

namespace fs = std::filesystem;

constexpr const char* kScript = "mpq.py";

/// Installed beside this program, or in the source tree that it was built from.
fs::path find_script() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  fs::path installed = self.parent_path().parent_path() / "share/tailrace/bench" / kScript;
  if (!error && fs::exists(installed, error)) return installed;
  const fs::path source = fs::path(TAILRACE_SOURCE_DIR) / "bench/peers" / kScript;
  return fs::exists(source, error) ? source : fs::path();
}

}  // namespace

std::optional<nlohmann::ordered_json> measure_python_queue(const ChildSignals& signals,
                                                           std::string& why_not) {
  const fs::path script = find_script();
  if (script.empty() || find_program("python3").empty()) {
    why_not =
        script.empty() ? std::string("its script ") + kScript + " is not installed" : "there is no python3";
    return std::nullopt;
  }
  const ProgramOutput output = run_program_to_end({"python3", script.string()}, signals);
  auto json = nlohmann::ordered_json::parse(output.text, nullptr, false);
  if (output.exit_code == 0 && json.is_object()) return json;
  why_not = script.string() + " ended with exit code " + std::to_string(output.exit_code);
  return std::nullopt;
}

}  // namespace tailrace
