#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "shm/ring.hpp"

namespace tailrace {

/// Entries from `first` on whose lock byte is held by somebody.
std::vector<ParticipantId> holders(const Ring& ring, std::uint32_t first = 0);

/// "pid 123", for messages.
std::string describe_participant(const Ring& ring, ParticipantId id);

/// Some participant's lock byte of a control file is held; asked without knowing anything of the file's
/// layout.
bool is_in_use(const std::filesystem::path& control);

}  // namespace tailrace
