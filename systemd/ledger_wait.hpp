#pragma once

#include "ledger/ledger.hpp"
#include "systemd/service.hpp"

namespace tailrace {

/// For a process that needs the ledger: a process that was stopped in the middle of a write holds it, and the
/// others wait for as long as it takes, saying so and feeding their watchdog, until they are asked to stop.
/// `service` outlives the ledger.
Ledger::KeepWaiting wait_until_stopped(Service& service);

}  // namespace tailrace
