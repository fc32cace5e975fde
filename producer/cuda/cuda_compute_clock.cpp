#include "producer/cuda/cuda_compute_clock.hpp"

#include <utility>

namespace tailrace {

void CudaComputeClock::start() {
  if (!current_ && !unused_.empty()) {
    current_ = std::move(unused_.back());
    unused_.pop_back();
  }
  if (!current_) current_ = std::make_unique<Pair>();
  current_->start.record(compute_);
}

void CudaComputeClock::stop() {
  current_->stop.record(compute_);
  enqueued_.push_back(std::move(current_));
}

std::optional<std::chrono::nanoseconds> CudaComputeClock::take() {
  if (enqueued_.empty() || !enqueued_.front()->stop.has_ended()) return std::nullopt;
  const std::chrono::nanoseconds duration = enqueued_.front()->stop.since(enqueued_.front()->start);
  unused_.push_back(std::move(enqueued_.front()));
  enqueued_.pop_front();
  return duration;
}

}  // namespace tailrace
