#include "systemd/program.hpp"

#include <spdlog/spdlog.h>

#include <csignal>
#include <sstream>

#include "config/exit_code_of.hpp"
#include "config/exit_codes.hpp"
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
  return exit_code_of(error);
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

}  // namespace

int run_program(const std::string& name, const std::function<int()>& body, const OwnErrors& own_errors) {
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
    finish_logging();
    return service_exit_code(error, own_errors);
  }
}

}  // namespace tailrace
