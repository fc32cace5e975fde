#pragma once

#include <string>
#include <vector>

#include "config/draft.hpp"

namespace tailrace {

// Values from outside the file, put into the draft over what is there; every fault is noted in it. Call them
// when the groups are known: they override keys of groups, but make none.

/// "NAME=value" entries; those named TAILRACE_…__… are overrides: TAILRACE_RING__SLOTS,
/// TAILRACE_GROUP__MASKS__SINK__PATH (letter case is ignored, and - in a group's name is written _).
void apply_environment(Draft& draft, const std::vector<std::string>& environment);

/// "ring.slots=16", "group.masks.sink.path=out"
void apply_overrides(Draft& draft, const std::vector<std::string>& overrides);

}  // namespace tailrace
