#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "producer/copier.hpp"
#include "producer/egress/strategy.hpp"
#include "shm/free_queue.hpp"

namespace tailrace {

/// A batch whose copies are under way, with what they read: it must live until they have ended.
struct InFlight {
  Filling filling;
  OutputBatch source;
  std::uint64_t claimed_ns = 0;
};

/// Waits for copies in the order of their submission, publishes their slots, and lets the tensors go. Has a
/// thread of its own. After a failed copy nothing more is published: the slots stay FILLING for the next
/// producer.
class Listener {
 public:
  /// `limit`: batches in flight at most; how far the producer may run ahead of the device. `spin`: how long
  /// it looks busily around the moment at which it expects the end of a copy, and for the next batch.
  Listener(const Ring& ring, Copier& copier, std::size_t limit, std::chrono::nanoseconds spin);
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener();  // publishes what is in flight first

  /// Waits until fewer than `limit` batches are in flight. Throws what a copy has failed with.
  void wait_for_room();
  void hand_over(InFlight batch);
  /// Returns when nothing is in flight. Throws what a copy has failed with.
  void drain();

  /// Any thread.
  [[nodiscard]] EgressStrategy::Flow flow();
  void set_spin(std::chrono::nanoseconds spin) noexcept {
    spin_ns_.store(static_cast<std::uint64_t>(spin.count()), std::memory_order_relaxed);
  }

 private:
  /// Counts as waiting for the device. Throws what a copy has failed with.
  template <typename Condition>
  void wait_until(Condition is_met);
  void run();
  /// The oldest batch in flight; waits for one. Null: quit, and there is none.
  InFlight* next();
  void publish(InFlight& batch);
  void await_copies(const InFlight& batch);
  /// Whether the end of the batch's copies was seen.
  bool look_busily(const InFlight& batch, std::uint64_t spin_ns);

  const Ring* ring_;
  Copier* copier_;
  std::size_t limit_;
  std::atomic<std::uint64_t> spin_ns_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<InFlight> in_flight_;  // the front one is being waited for
  std::exception_ptr failure_;
  bool quit_ = false;
  std::atomic<std::uint64_t> handed_over_{0};
  std::atomic<std::uint64_t> published_{0};

  // Of the listener's thread alone.
  std::uint64_t last_end_ns_ = 0;   // when the last copy was seen to have ended
  std::uint64_t last_took_ns_ = 0;  // since it, or the copy before it, began
  bool overslept_ = false;          // the last copy ended before the listener looked

  std::thread thread_;
};

}  // namespace tailrace
