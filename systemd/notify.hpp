#pragma once

#include <chrono>
#include <string>

namespace tailrace {

// Messages to the service manager (sd_notify). Each does nothing where no manager listens; any thread may
// call them.

void notify_ready(const std::string& status);
void notify_status(const std::string& status);
void notify_stopping(const std::string& status);
/// The watchdog's ping: only call it while the process makes progress (or rightly waits).
void notify_watchdog();
/// The start or stop is still advancing: the manager's time-out starts anew with this length.
void notify_extend_timeout(std::chrono::microseconds timeout);

}  // namespace tailrace
