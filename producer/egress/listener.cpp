#include "producer/egress/listener.hpp"

#include <algorithm>
#include <utility>

#include "os/clock.hpp"
#include "os/failpoint.hpp"
#include "producer/egress/naming_batch.hpp"
#include "shm/spin.hpp"
#include "systemd/log_batch.hpp"

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
  wait_until([this] { return in_flight_.size() < limit_; });
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
  wait_until([this] { return in_flight_.empty(); });
}

template <typename Condition>
void Listener::wait_until(Condition is_met) {
  std::unique_lock lock(mutex_);
  const auto is_over = [&] { return failure_ || is_met(); };
  if (!is_over()) {
    const std::uint64_t start_ns = monotonic_ns();
    changed_.wait(lock, is_over);
    ring_->producer().counters.add(Counter::kStallComputeNs, monotonic_ns() - start_ns);
  }
  if (failure_) std::rethrow_exception(failure_);
}

EgressStrategy::Flow Listener::flow() {
  const std::lock_guard lock(mutex_);
  // relaxed: only its change is looked at
  return {!failure_ && !in_flight_.empty(), published_.load(std::memory_order_relaxed)};
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
  if (const std::uint64_t spin_ns = spin_ns_.load(std::memory_order_relaxed); spin_ns > 0)
    spin_until(monotonic_ns() + spin_ns, [this] {
      return handed_over_.load(std::memory_order_relaxed) != published_.load(std::memory_order_relaxed);
    });
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return quit_ || !in_flight_.empty(); });
  // A deque keeps its place while others are added behind it.
  return in_flight_.empty() ? nullptr : &in_flight_.front();
}

void Listener::publish(InFlight& batch) {
  const ScopedRange range(RangeKind::kCopy, batch.source.number);
  const LogBatch about(batch.source.number);
  failpoint("mid_copy");
  naming_batch(batch.source.number, [&] { await_copies(batch); });
  const std::uint64_t copied_ns = monotonic_ns();
  batch.filling.publish(batch.claimed_ns, copied_ns);
  published_.fetch_add(1, std::memory_order_relaxed);
  last_took_ns_ = copied_ns - std::max(batch.claimed_ns, last_end_ns_);
  // How long before was not seen: without a guess a copy that was slow once would be slept through for ever.
  if (std::exchange(overslept_, false)) last_took_ns_ /= 2;
  last_end_ns_ = copied_ns;
  // After the publication: asking for it may wait for the driver's lock.
  ring_->producer().counters.record(
      Stage::kEgressCopy, static_cast<std::uint64_t>(copier_->took(index_of(batch.filling.slot())).count()));
}

void Listener::await_copies(const InFlight& batch) {
  const std::uint64_t spin_ns = spin_ns_.load(std::memory_order_relaxed);
  if (spin_ns == 0 || !look_busily(batch, spin_ns)) copier_->wait(index_of(batch.filling.slot()));
}

// Batches are alike: this copy should take as long as the last one did.
bool Listener::look_busily(const InFlight& batch, std::uint64_t spin_ns) {
  const std::size_t lane = index_of(batch.filling.slot());
  const std::uint64_t expected_ns = std::max(batch.claimed_ns, last_end_ns_) + last_took_ns_;
  const std::uint64_t now = monotonic_ns();
  if (expected_ns > now + spin_ns) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(expected_ns - now - spin_ns));
    overslept_ = copier_->has_ended(lane);
    if (overslept_) return true;
  }
  return spin_until(std::max(expected_ns, now) + spin_ns, [&] { return copier_->has_ended(lane); });
}

}  // namespace tailrace
