#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <system_error>

#include "config/exit_codes.hpp"
#include "config/instance.hpp"
#include "config/service_scale.hpp"
#include "os/unique_fd.hpp"
#include "systemd/generator/generator.hpp"

// Runs at boot and at every `systemctl daemon-reload`, before anything is mounted or logs:
// systemd.generator(7).

namespace {

constexpr const char* kHelp =
    "usage: tailrace-generator NORMAL_DIR [EARLY_DIR LATE_DIR]\n"
    "Makes the units of the pipelines in /etc/tailrace: systemd calls it.\n";

constexpr const char* kRunningUnits = "/run/systemd/units";

/// At boot the kernel's log is the only one; elsewhere a person looks on.
void warn(const std::string& line) {
  const std::string text = "tailrace-generator: " + line + "\n";
  // NOLINTNEXTLINE(concurrency-mt-unsafe): the only thread
  const bool run_by_manager = std::getenv("SYSTEMD_SCOPE") != nullptr;
  const tailrace::UniqueFd log(run_by_manager ? open("/dev/kmsg", O_WRONLY | O_CLOEXEC | O_NOCTTY) : -1);
  const std::string entry = "<4>" + text;
  if (!log || write(log.get(), entry.data(), entry.size()) < 0) std::cerr << text;
}

std::string template_directory() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  return (self.parent_path().parent_path() / "system").string();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "";
  if (first == "--help") {
    std::cout << kHelp;
    return tailrace::kExitDone;
  }
  if ((argc != 2 && argc != 4) || first.starts_with("-")) {
    std::cerr << kHelp;
    return tailrace::kExitUsage;
  }
  tailrace::generate_units({tailrace::kServiceDirectory, template_directory(), first, kRunningUnits}, warn);
  return tailrace::kExitDone;
}
