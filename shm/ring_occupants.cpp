#include "shm/ring_occupants.hpp"

#include <fcntl.h>

#include "shm/participant.hpp"

namespace tailrace {

std::vector<ParticipantId> holders(const Ring& ring, std::uint32_t first) {
  const LockLiveness liveness(ring);
  std::vector<ParticipantId> held;
  for (std::uint32_t i = first; i < kMaxParticipants; ++i)
    if (liveness.is_held(ParticipantId{i})) held.push_back(ParticipantId{i});
  return held;
}

std::string describe_participant(const Ring& ring, ParticipantId id) {
  const auto identity = identity_of(ring.participants()[index_of(id)]);
  return "pid " + std::to_string(identity.pid);
}

bool is_in_use(const std::filesystem::path& control) {
  UniqueFd fd(open(control.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return false;
  for (std::size_t i = 0; i < kMaxParticipants; ++i)
    if (is_byte_locked(fd.get(), static_cast<off_t>(i))) return true;
  return false;
}

}  // namespace tailrace
