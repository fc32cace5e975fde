#include "producer/ring_start.hpp"

#include <spdlog/spdlog.h>

#include "config/quantities.hpp"
#include "shm/ring_owner.hpp"
#include "systemd/work_done.hpp"

namespace tailrace {

RingStart::RingStart(Service& service)
    : service_(&service),
      stage_(service.life, "making the ring", [] { return work_done_by_others(false); }) {}

void RingStart::say(const std::string& line) {
  spdlog::info("{}", line);
  stage_.say(line);
}

bool RingStart::should_stop() {
  service_->life.turn();
  return service_->signals.stop_requested();
}

void RingStart::slot_ready(const Ring& ring, std::size_t ready, bool pinned) {
  service_->life.turn();
  const std::uint64_t bytes = ring.geometry().slot_bytes;
  stage_.say(fmt::format("{} {} of {}", pinned ? "pinning" : "allocating", rounded_size_text(ready * bytes),
                         rounded_size_text(ring.geometry().slot_count * bytes)));
  if (service_->signals.stop_requested()) throw RingBusy("stopped while the ring got its memory");
}

}  // namespace tailrace
