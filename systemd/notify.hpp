#pragma once

#include <string>

namespace tailrace {

// Messages to the service manager (sd_notify). Each does nothing where no manager listens; any thread may
// call them.

void notify_ready(const std::string& status);
void notify_status(const std::string& status);
void notify_stopping(const std::string& status);
/// The watchdog's ping: only call it while the process makes progress (or rightly waits).
void notify_watchdog();

}  // namespace tailrace
