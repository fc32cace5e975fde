#pragma once

#include "ledger/ledger.hpp"
#include "systemd/stop_signals.hpp"

namespace tailrace {

/// For a process that needs the ledger: a process that was stopped in the middle of a write holds it, and the
/// others wait for as long as it takes, saying so and feeding their watchdog, until they are asked to stop.
/// `signals` outlives the ledger.
Ledger::KeepWaiting wait_until_stopped(const StopSignals& signals);

}  // namespace tailrace
