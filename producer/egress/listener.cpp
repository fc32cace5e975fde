#include "producer/egress/listener.hpp"

#include <utility>

#include "shm/clock.hpp"

namespace tailrace {

Listener::Listener(const Ring& ring, Copier& copier, std::size_t limit)
    : ring_(&ring), copier_(&copier), limit_(limit), thread_([this] { run(); }) {}

Listener::~Listener() {
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Listener::wait_for_room() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return failure_ || in_flight_.size() < limit_; });
  if (failure_) std::rethrow_exception(failure_);
}

void Listener::hand_over(InFlight batch) {
  {
    const std::lock_guard lock(mutex_);
    in_flight_.push_back(std::move(batch));
  }
  changed_.notify_all();
}

void Listener::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return failure_ || in_flight_.empty(); });
  if (failure_) std::rethrow_exception(failure_);
}

void Listener::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return quit_ || !in_flight_.empty(); });
    if (in_flight_.empty()) return;
    InFlight& batch = in_flight_.front();  // a deque keeps its place while others are added behind it
    lock.unlock();
    try {
      publish(batch);
    } catch (...) {
      lock.lock();
      failure_ = std::current_exception();
      changed_.notify_all();
      return;
    }
    batch.source = {};
    lock.lock();
    in_flight_.pop_front();
    changed_.notify_all();
  }
}

void Listener::publish(InFlight& batch) {
  const ScopedRange range(RangeKind::kCopy, batch.source.number);
  copier_->wait(index_of(batch.filling.slot()));
  const std::uint64_t copied_ns = monotonic_ns();
  batch.filling.publish(batch.claimed_ns, copied_ns);
  ring_->producer_counters().record(Stage::kEgressCopy, copied_ns - batch.claimed_ns);
}

}  // namespace tailrace
