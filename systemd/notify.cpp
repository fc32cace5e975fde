#include "systemd/notify.hpp"

#include <systemd/sd-daemon.h>

namespace tailrace {

void notify_ready(const std::string& status) { sd_notifyf(0, "READY=1\nSTATUS=%s", status.c_str()); }
void notify_status(const std::string& status) { sd_notifyf(0, "STATUS=%s", status.c_str()); }
void notify_stopping(const std::string& status) { sd_notifyf(0, "STOPPING=1\nSTATUS=%s", status.c_str()); }
void notify_watchdog() { sd_notify(0, "WATCHDOG=1"); }

}  // namespace tailrace
