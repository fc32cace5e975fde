#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "os/spawn.hpp"
#include "os/unique_fd.hpp"

namespace tailrace {

/// The process group that a sink's programs run in. Its leader is a guard, a shell that waits for the end of
/// this process: where that comes unannounced (SIGKILL, a crash), it kills the whole group, so that neither a
/// program nor what it has started outlives its consumer. Who moves to another group or session escapes it,
/// and so does everybody when the guard itself was killed before. Used by one thread, with SIGPIPE ignored.
class GuardedGroup {
 public:
  GuardedGroup() = default;
  GuardedGroup(const GuardedGroup&) = delete;
  GuardedGroup& operator=(const GuardedGroup&) = delete;
  /// Lets the guard go: what programs left running on purpose goes on.
  ~GuardedGroup();

  /// Starts a program in the group, with no signal blocked or ignored and no descriptor but those that
  /// `spawn` redirects and the other standard streams; makes the group where there is none. Throws FileError.
  [[nodiscard]] pid_t start(Spawn& spawn, const std::string& program,
                            const std::vector<std::string>& command);
  /// Kills everything in it.
  void kill() noexcept;

 private:
  [[nodiscard]] bool has_guard() noexcept;
  void start_guard();

  pid_t guard_ = 0;      // 0 = none; not reaped, so that the number stays its own
  UniqueFd guard_ends_;  // the guard acts when nobody has this open any more
};

}  // namespace tailrace
