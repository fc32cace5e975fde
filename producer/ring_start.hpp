#pragma once

#include <cstddef>
#include <string>

#include "shm/ring.hpp"
#include "systemd/service.hpp"

namespace tailrace {

/// What a producer tells of itself from the moment that it goes for its ring until its first batch can be
/// served. Of the producer's main thread; `service` outlives it.
class RingStart {
 public:
  explicit RingStart(Service& service);

  /// Into the log, and as what the process is at.
  void say(const std::string& line);
  /// Asked while it waits for others: for an old ring's consumers, say.
  bool should_stop();
  /// So many slots have their memory, and are pinned where they are to be. Throws RingBusy where a stop was
  /// asked for meanwhile.
  void slot_ready(const Ring& ring, std::size_t ready, bool pinned);

 private:
  Service* service_;
  Lifesign::Stage stage_;
};

}  // namespace tailrace
