#pragma once

#include <functional>
#include <optional>
#include <string>

#include "ledger/group_ledger.hpp"
#include "shm/descriptor.hpp"
#include "shm/ready_queue.hpp"

namespace tailrace {

/// The ring, once there is one that can be attached to; empty: `producer_ended` before, or a minute is over.
std::optional<Ring> wait_for_ring(const RingFiles& files, const std::function<bool()>& producer_ended);

/// A consumer of a ring's first group inside the test: shows batches as they lie in their slots, and commits
/// them as any consumer does, the ledger first. Used by one thread.
class RingReader {
 public:
  using Look = std::function<void(const BatchView&)>;

  /// `state`: the folder of the pipeline's ledger. Throws where the ring has no place for one more.
  RingReader(Ring ring, const std::string& state);
  RingReader(const RingReader&) = delete;
  RingReader& operator=(const RingReader&) = delete;

  [[nodiscard]] const Ring& ring() const { return ring_; }

  /// What is published at present.
  void read_published(const Look& look);
  /// Until the job is finished; false: the producer ended before.
  [[nodiscard]] bool read_to_end(const Look& look, const std::function<bool()>& producer_ended);

 private:
  void hand_over(Lease lease, const Look& look);

  Ring ring_;
  Participant participant_;
  Janitor janitor_;
  ReadyQueue queue_;
  GroupLedger ledger_;
};

}  // namespace tailrace
