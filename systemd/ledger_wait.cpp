#include "systemd/ledger_wait.hpp"

#include <spdlog/spdlog.h>

#include <chrono>

#include "systemd/notify.hpp"

namespace tailrace {

Ledger::KeepWaiting wait_until_stopped(const StopSignals& signals) {
  return [&signals](std::chrono::milliseconds waited) {
    spdlog::warn("waiting for the ledger since {:.1f} s: another process is writing to it",
                 std::chrono::duration<double>(waited).count());
    notify_watchdog();
    return !signals.stop_requested();
  };
}

}  // namespace tailrace
