#include "producer/profile/profile_window.hpp"

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
  const std::uint64_t end_step = std::uint64_t{config_.warmup_steps} + config_.profile_steps;
  if (step == config_.warmup_steps) begin();
  if (step == end_step) end();
  if (step == end_step + config_.cooldown_steps) cool_down();
}

void ProfileWindow::finish() {
  end();
  cool_down();
  if (config_.profile_steps != 0 && !measured_) actions_.on_missed();
}

void ProfileWindow::begin() {
  if (!actions_.drain()) return;
  warm_ = true;
  actions_.on_begin();
  begin_ = actions_.sample();
}

void ProfileWindow::end() {
  if (!begin_ || !actions_.drain()) return;
  const Throughput throughput = throughput_between(*std::exchange(begin_, std::nullopt), actions_.sample());
  if (throughput.steps == 0) return;
  measured_ = true;
  actions_.on_end(throughput);
}

void ProfileWindow::cool_down() {
  if (std::exchange(warm_, false)) actions_.on_cooled_down();
}

}  // namespace tailrace
