#include "shm/producer_end.hpp"

#include <unistd.h>

#include <exception>

#include "os/clock.hpp"
#include "shm/ring.hpp"

namespace tailrace {
namespace {

void note(const Ring& ring, int exit_code) {
  const ParticipantRecord& entry = ring.participants()[index_of(kProducerId)];
  // The generation before the pid: a successor that joins in between is seen by its pid, and if it joins
  // afterwards, the note is about the generation before it.
  const std::uint32_t generation = entry.generation.load(std::memory_order_acquire);
  const std::uint32_t pid = entry.pid.load(std::memory_order_acquire);
  if (generation == 0 || (pid != 0 && pid != static_cast<std::uint32_t>(getpid()))) return;
  ProducerEnd& end = ring.producer().end;
  // relaxed: for people; a reader that sees half of it sees the whole the next time
  end.exit_code.store(static_cast<std::uint32_t>(exit_code), std::memory_order_relaxed);
  end.ended_ns.store(monotonic_ns(), std::memory_order_relaxed);
  end.generation.store(generation, std::memory_order_relaxed);
}

}  // namespace

void note_producer_end(const RingFiles& files, int exit_code) noexcept {
  try {
    const AttachAnswer answer = attach_ring(files, RingAccess::kOperator);
    if (answer.state == AttachState::kReady) note(*answer.ring, exit_code);
  } catch (const std::exception&) {
    // As it says.
  }
}

}  // namespace tailrace
