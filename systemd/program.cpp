#include "systemd/program.hpp"

#include <spdlog/spdlog.h>

#include <csignal>
#include <filesystem>
#include <sstream>

#include "config/exit_code_of.hpp"
#include "config/exit_codes.hpp"
#include "os/io_error.hpp"
#include "shm/descriptor.hpp"
#include "shm/lost_pages.hpp"
#include "shm/ring_owner.hpp"
#include "systemd/log.hpp"

namespace tailrace {

int service_exit_code(const std::exception& error, const OwnErrors& own_errors) {
  if (const auto code = own_errors(error)) return *code;
  if (dynamic_cast<const RingBusy*>(&error) != nullptr) return kExitTryAgain;
  if (dynamic_cast<const RingMismatch*>(&error) != nullptr) return kExitDamagedRing;
  if (dynamic_cast<const DamagedDescriptor*>(&error) != nullptr) return kExitDamagedRing;
  if (dynamic_cast<const SlotTooSmall*>(&error) != nullptr) return kExitConfig;
  const int code = exit_code_of(error);
  const bool of_a_file = dynamic_cast<const FileError*>(&error) != nullptr;
  return code == kExitUnexpected && of_a_file ? kExitIo : code;
}

namespace {

// A reload that is asked for before there is somebody to do it (StopSignals) waits, instead of ending the
// process.
void hold_reloads() {
  sigset_t reload;
  sigemptyset(&reload);
  sigaddset(&reload, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &reload, nullptr);
}

// A service sees the file system as its unit lets it: the reason alone ("Read-only file system") says nothing
// of that.
void explain_refusal(const std::exception& error, const std::string& service) {
  const bool is_of_a_file = dynamic_cast<const FileError*>(&error) != nullptr ||
                            dynamic_cast<const std::filesystem::filesystem_error*>(&error) != nullptr;
  if (service.empty() || !is_of_a_file || exit_code_of(error) != kExitPermission) return;
  spdlog::error(
      "a service can write below /var/lib/tailrace/{}, and to the folders that its file names (sinks' path, "
      "pipeline.state, log.file) and that are there when it starts: `install -d -o tailrace -g tailrace "
      "FOLDER`, then start it again; other folders are for a drop-in (`systemctl edit`) with "
      "ReadWritePaths=FOLDER",
      service);
}

}  // namespace

int run_program(const std::string& name, const std::function<int()>& body, const OwnErrors& own_errors,
                const std::string& service) {
  hold_reloads();
  exit_on_lost_pages(kExitDamagedRing);
  try {
    set_up_logging(LogConfig{}, {name, {}});
    const int code = body();
    finish_logging();
    return code;
  } catch (const std::exception& error) {
    std::istringstream lines(error.what());
    for (std::string line; std::getline(lines, line);) spdlog::error("{}", line);
    explain_refusal(error, service);
    finish_logging();
    return service_exit_code(error, own_errors);
  }
}

}  // namespace tailrace
