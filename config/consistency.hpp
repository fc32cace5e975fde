#pragma once

#include "config/draft.hpp"

namespace tailrace {

/// Notes every contradiction between values that are fine by themselves, and paths that cannot be what they
/// should be. Looks at the file system, changes nothing.
void check_consistency(Draft& draft);

}  // namespace tailrace
