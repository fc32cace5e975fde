#pragma once

#include <functional>
#include <optional>
#include <string>

#include "shm/producer_role.hpp"
#include "shm/ring.hpp"

namespace tailrace {

/// Takes a ring out of use, on behalf of the holder of the producer's role: its consumers finish what is
/// published (a group that nobody works for is not waited for), it becomes RETIRED, everybody leaves.
class RingRetirement {
 public:
  using Progress = std::function<void(const std::string&)>;
  /// Asked while waiting for somebody else; true = give up.
  using ShouldStop = std::function<bool()>;

  /// `first`: entries from this one on are others'. Everything outlives this.
  RingRetirement(const Ring& ring, std::uint32_t first, const Progress& progress,
                 const ShouldStop& should_stop)
      : ring_(&ring), first_(first), progress_(&progress), should_stop_(&should_stop) {}

  /// False: stopped.
  [[nodiscard]] bool run() const;

 private:
  [[nodiscard]] bool wait_for(const std::string& what, const std::function<bool()>& done) const;

  const Ring* ring_;
  std::uint32_t first_;
  const Progress* progress_;
  const ShouldStop* should_stop_;
};

/// Retires the ring that is there, and removes it; the role's file stays. Throws
/// RingBusy when `should_stop` says so, RingMismatch where somebody uses a ring that this program cannot
/// read.
void discard_ring(const ProducerRole& role, const RingRetirement::Progress& progress,
                  const RingRetirement::ShouldStop& should_stop);

/// Removes the ring of a pipeline whose processes are all dead. Empty: done, or nothing there. Otherwise who
/// holds it.
std::optional<std::string> clean_ring(const RingFiles& files);

}  // namespace tailrace
