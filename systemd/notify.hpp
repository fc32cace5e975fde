#pragma once

#include <chrono>
#include <string>

namespace tailrace {

// Messages to the service manager (sd_notify). Each does nothing where no manager listens; any thread may
// call them. Lifesign decides when.

void notify_ready(const std::string& status);
void notify_status(const std::string& status);
void notify_stopping(const std::string& status);
/// The watchdog's ping: only call it while the process makes progress (or rightly waits).
void notify_watchdog();
/// The start, or the stop, may go on for so long from now on, whatever time-out was configured.
void notify_extend_timeout(std::chrono::microseconds more);

/// Within which time the manager wants a ping; 0 = it wants none.
std::chrono::microseconds watchdog_period();

}  // namespace tailrace
