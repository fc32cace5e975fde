#pragma once

#include <functional>
#include <optional>

#include "shm/free_queue.hpp"

namespace tailrace {

/// Hands out free slots and, while there are none, says who holds them up.
class SlotSource {
 public:
  using ShouldStop = std::function<bool()>;

  SlotSource(const Ring& ring, FreeQueue& queue, ShouldStop should_stop);

  /// Waits for a free slot. Empty: a stop was asked for. Throws std::runtime_error when sequence numbers are
  /// used up.
  std::optional<Filling> take();

 private:
  const Ring* ring_;
  FreeQueue* queue_;
  ShouldStop should_stop_;
};

/// One line for people: slots by state in each group, and the longest lease with its holder.
std::string describe_slots(const Ring& ring);

}  // namespace tailrace
