#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "os/unique_fd.hpp"
#include "shm/ring.hpp"

namespace tailrace {

/// The ring of one pipeline as it comes, is replaced and goes; read-only. The last one stays mapped after its
/// names are gone, so that its counters can still be read. Used by one thread.
class RingWatch {
 public:
  /// Throws std::system_error where the control directory cannot be watched.
  explicit RingWatch(RingFiles files);

  /// Readable when it is worth calling refresh(): a ring has appeared or gone.
  [[nodiscard]] int fd() const noexcept { return changes_.get(); }
  /// Attaches to the ring that is there now, if it is another one. True: it is.
  bool refresh();
  /// nullptr: none was seen so far.
  [[nodiscard]] const Ring* ring() const noexcept { return ring_ ? &*ring_ : nullptr; }

  /// Asks the producer of the ring that is there now to drain. False: there is none to ask.
  [[nodiscard]] bool request_drain() const;

 private:
  RingFiles files_;
  UniqueFd changes_;
  std::optional<Ring> ring_;
};

/// attach_ring for whom the ring is not worth failing: what cannot be opened counts as kIncompatible.
AttachAnswer look_at_ring(const RingFiles& files, RingAccess access);

/// Asks the producer of a ring to take no more input and to leave once all is done.
void request_drain(const Ring& ring) noexcept;

/// Takes back what an earlier run asked for of a ring that it left, so that this one goes on with it.
void forget_drain(const RingFiles& files);

/// Batches of the job below this number have been published; empty: unknown (no data file to look into).
std::optional<std::uint64_t> published_batches(const Ring& ring);

/// No group has done any batch: whoever makes the ring anew does no work twice.
bool nothing_done(const Ring& ring);

}  // namespace tailrace
