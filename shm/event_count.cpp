#include "shm/event_count.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

#include "shm/spin.hpp"

namespace tailrace {

void EventCount::wait(std::uint32_t ticket, std::chrono::nanoseconds timeout,
                      std::chrono::nanoseconds spin) const noexcept {
  if (spin.count() > 0) {
    // relaxed: whoever sees a change looks at the words again, beginning with prepare()
    const auto has_changed = [&] { return word_->load(std::memory_order_relaxed) != ticket; };
    if (spin_until(monotonic_ns() + static_cast<std::uint64_t>(spin.count()), has_changed)) return;
  }
  const timespec relative{timeout.count() / 1'000'000'000, timeout.count() % 1'000'000'000};
  // Not FUTEX_PRIVATE_FLAG: the word is shared between processes. Every result means "look again".
  syscall(SYS_futex, word_, FUTEX_WAIT, ticket, &relative, nullptr, 0);
}

void EventCount::notify() const noexcept {
  word_->fetch_add(1, std::memory_order_release);
  syscall(SYS_futex, word_, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace tailrace
