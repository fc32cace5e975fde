#pragma once

namespace tailrace {

/// Marks a place at which a process may die, stand still or fail, so that tests can make it do so. In the
/// programs that are shipped it does nothing (failpoint.cpp); tests link the same object files with
/// tests/failpoints/failpoint.cpp, which acts as TAILRACE_FAILPOINTS says. `name`: a literal, one for each
/// place. Any process, any thread. The active one throws where it was told to: not for places in noexcept
/// functions.
void failpoint(const char* name);

}  // namespace tailrace
