#include "producer/egress/listener.hpp"

#include <algorithm>
#include <utility>

#include "producer/egress/naming_batch.hpp"
#include "shm/failpoint.hpp"
#include "shm/spin.hpp"

namespace tailrace {

Listener::Listener(const Ring& ring, Copier& copier, std::size_t limit, std::chrono::nanoseconds spin)
    : ring_(&ring),
      copier_(&copier),
      limit_(limit),
      spin_ns_(static_cast<std::uint64_t>(spin.count())),
      thread_([this] { run(); }) {}

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
    handed_over_.fetch_add(1, std::memory_order_relaxed);  // only makes the listener take the lock
  }
  changed_.notify_all();
}

void Listener::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return failure_ || in_flight_.empty(); });
  if (failure_) std::rethrow_exception(failure_);
}

void Listener::run() {
  while (InFlight* batch = next()) {
    try {
      publish(*batch);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
      changed_.notify_all();
      return;
    }
    batch->source = {};
    {
      const std::lock_guard lock(mutex_);
      in_flight_.pop_front();
    }
    changed_.notify_all();
  }
}

InFlight* Listener::next() {
  if (spin_ns_ > 0)
    spin_until(monotonic_ns() + spin_ns_,
               [this] { return handed_over_.load(std::memory_order_relaxed) != published_; });
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return quit_ || !in_flight_.empty(); });
  // A deque keeps its place while others are added behind it.
  return in_flight_.empty() ? nullptr : &in_flight_.front();
}

void Listener::publish(InFlight& batch) {
  const ScopedRange range(RangeKind::kCopy, batch.source.number);
  failpoint("mid_copy");
  naming_batch(batch.source.number, [&] { await_copies(batch); });
  const std::uint64_t copied_ns = monotonic_ns();
  batch.filling.publish(batch.claimed_ns, copied_ns);
  ++published_;
  last_took_ns_ = copied_ns - std::max(batch.claimed_ns, last_end_ns_);
  // How long before was not seen: without a guess a copy that was slow once would be slept through for ever.
  if (std::exchange(overslept_, false)) last_took_ns_ /= 2;
  last_end_ns_ = copied_ns;
  ring_->producer().counters.record(Stage::kEgressCopy, copied_ns - batch.claimed_ns);
}

void Listener::await_copies(const InFlight& batch) {
  if (spin_ns_ == 0 || !look_busily(batch)) copier_->wait(index_of(batch.filling.slot()));
}

// Batches are alike: this copy should take as long as the last one did.
bool Listener::look_busily(const InFlight& batch) {
  const std::size_t lane = index_of(batch.filling.slot());
  const std::uint64_t expected_ns = std::max(batch.claimed_ns, last_end_ns_) + last_took_ns_;
  const std::uint64_t now = monotonic_ns();
  if (expected_ns > now + spin_ns_) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(expected_ns - now - spin_ns_));
    overslept_ = copier_->has_ended(lane);
    if (overslept_) return true;
  }
  return spin_until(std::max(expected_ns, now) + spin_ns_, [&] { return copier_->has_ended(lane); });
}

}  // namespace tailrace
