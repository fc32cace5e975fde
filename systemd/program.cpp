#include "systemd/program.hpp"

#include <spdlog/spdlog.h>

#include <sstream>

#include "config/exit_code_of.hpp"
#include "config/exit_codes.hpp"
#include "shm/descriptor.hpp"
#include "shm/lost_pages.hpp"
#include "shm/ring_owner.hpp"
#include "systemd/log.hpp"

namespace tailrace {
namespace {

int exit_code_for(const std::exception& error) {
  if (dynamic_cast<const RingBusy*>(&error) != nullptr) return kExitTryAgain;
  if (dynamic_cast<const RingMismatch*>(&error) != nullptr) return kExitDamagedRing;
  if (dynamic_cast<const DamagedDescriptor*>(&error) != nullptr) return kExitDamagedRing;
  if (dynamic_cast<const SlotTooSmall*>(&error) != nullptr) return kExitConfig;
  return exit_code_of(error);
}

}  // namespace

int run_program(const std::string& name, const std::function<int()>& body,
                const std::function<std::optional<int>(const std::exception&)>& own_errors) {
  exit_on_lost_pages(kExitDamagedRing);
  try {
    set_up_logging(LogConfig{}, name);
    return body();
  } catch (const std::exception& error) {
    std::istringstream lines(error.what());
    for (std::string line; std::getline(lines, line);) spdlog::error("{}", line);
    const auto code = own_errors(error);
    return code ? *code : exit_code_for(error);
  }
}

}  // namespace tailrace
