#include "ctl/bench/python_queue.hpp"

#include <filesystem>

#include "ctl/bench/program_output.hpp"

namespace tailrace {
namespace {

namespace fs = std::filesystem;

constexpr const char* kScript = "mpq.py";

/// Empty if it is not installed beside this program.
fs::path find_script() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const fs::path script = self.parent_path().parent_path() / "share/tailrace/bench" / kScript;
  return !error && fs::exists(script, error) ? script : fs::path();
}

}  // namespace

std::optional<nlohmann::ordered_json> measure_python_queue(const ChildSignals& signals,
                                                           std::string& why_not) {
  const fs::path script = find_script();
  const bool has_python = !find_program("python3").empty();
  if (script.empty() || !has_python) {
    why_not = has_python ? std::string("its script ") + kScript + " is not installed" : "there is no python3";
    return std::nullopt;
  }
  const ProgramOutput output = run_program_to_end({"python3", script.string()}, signals);
  auto json = nlohmann::ordered_json::parse(output.text, nullptr, false);
  if (output.exit_code == 0 && json.is_object()) return json;
  why_not = script.string() + " ended with exit code " + std::to_string(output.exit_code);
  return std::nullopt;
}

}  // namespace tailrace
