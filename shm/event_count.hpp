#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace tailrace {

/// Waiting for a change of words in shared memory, across processes. A view of one futex word.
///
/// Waiter: `ticket = prepare(); look; nothing there: wait(ticket, …)`. Other side: change the words,
/// `notify()`. There is no count of waiters (a killed one would corrupt it); every waiter is woken (a single
/// one may be killed before it acts); every wait ends by itself (the notifier may die between change and
/// notify).
class EventCount {
 public:
  explicit EventCount(std::atomic<std::uint32_t>& word) noexcept : word_(&word) {}

  [[nodiscard]] std::uint32_t prepare() const noexcept { return word_->load(std::memory_order_acquire); }
  /// Returns when notified since `prepare()`, or after `timeout`, or earlier. Spins for `spin` before it
  /// sleeps.
  void wait(std::uint32_t ticket, std::chrono::nanoseconds timeout,
            std::chrono::nanoseconds spin) const noexcept;
  void notify() const noexcept;

 private:
  std::atomic<std::uint32_t>* word_;
};

}  // namespace tailrace
