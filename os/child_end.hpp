#pragma once

#include <sys/types.h>

#include <optional>

namespace tailrace {

/// Waits for the end of this process's child `pid` and returns its status, as waitpid does. Empty: there is
/// no such child, or nobody gets a status (SIGCHLD is ignored).
std::optional<int> wait_for_end(pid_t pid) noexcept;

/// The same at once; empty also: it still runs.
std::optional<int> end_of(pid_t pid) noexcept;

/// What a shell makes of such a status: the exit code, or 128 + the signal that killed it.
int exit_code_of_status(int status) noexcept;

}  // namespace tailrace
