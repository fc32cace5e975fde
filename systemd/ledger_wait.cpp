#include "systemd/ledger_wait.hpp"

#include <spdlog/spdlog.h>

#include <chrono>

namespace tailrace {

Ledger::KeepWaiting wait_until_stopped(Service& service) {
  return [&service](std::chrono::milliseconds waited) {
    spdlog::warn("waiting for the ledger since {:.1f} s: another process is writing to it",
                 std::chrono::duration<double>(waited).count());
    service.life.turn();
    return !service.signals.stop_requested();
  };
}

}  // namespace tailrace
