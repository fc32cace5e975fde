#include "systemd/notify.hpp"

#include <systemd/sd-daemon.h>

#include <cstdint>

#include "systemd/line_sink.hpp"

namespace tailrace {
namespace {

// A line break would begin another assignment.
void notify(const std::string& assignment, const std::string& status) {
  sd_notify(0, (assignment + "STATUS=" + one_line(status)).c_str());
}

}  // namespace

void notify_ready(const std::string& status) { notify("READY=1\n", status); }
void notify_status(const std::string& status) { notify("", status); }
void notify_stopping(const std::string& status) { notify("STOPPING=1\n", status); }
void notify_watchdog() { sd_notify(0, "WATCHDOG=1"); }
void notify_extend_timeout(std::chrono::microseconds more) {
  sd_notifyf(0, "EXTEND_TIMEOUT_USEC=%lld", static_cast<long long>(more.count()));
}

std::chrono::microseconds watchdog_period() {
  std::uint64_t period_us = 0;
  return std::chrono::microseconds(sd_watchdog_enabled(0, &period_us) > 0 ? period_us : 0);
}

}  // namespace tailrace
