#include "producer/profile_window.hpp"

#include <utility>

namespace tailrace {

ProfileWindow::ProfileWindow(const ProfileConfig& config, Actions actions)
    : config_(config), actions_(std::move(actions)) {}

void ProfileWindow::before_step() {
  const std::uint64_t step = steps_++;
  if (config_.profile_steps == 0) {
    if (step == 0) begin_ = actions_.sample();
    return;
  }
  const std::uint64_t end = std::uint64_t{config_.warmup_steps} + config_.profile_steps;
  if (step == config_.warmup_steps) begin();
  if (step == end) this->end();
  if (step == end + config_.cooldown_steps) stop_capture();
}

void ProfileWindow::finish() {
  end();
  stop_capture();
}

void ProfileWindow::begin() {
  if (!actions_.drain()) return;
  actions_.start_capture();
  capturing_ = true;
  begin_ = actions_.sample();
}

void ProfileWindow::end() {
  if (!begin_ || !actions_.drain()) return;
  const ThroughputSample now = actions_.sample();
  actions_.report(throughput_between(*std::exchange(begin_, std::nullopt), now));
}

void ProfileWindow::stop_capture() {
  if (std::exchange(capturing_, false)) actions_.stop_capture();
}

}  // namespace tailrace
