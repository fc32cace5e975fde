#include "os/child_end.hpp"

#include <sys/wait.h>

#include <cerrno>

namespace tailrace {

std::optional<int> wait_for_end(pid_t pid) noexcept {
  int status = 0;
  pid_t ended = 0;
  do {
    ended = ::waitpid(pid, &status, 0);
  } while (ended < 0 && errno == EINTR);
  return ended == pid ? std::optional(status) : std::nullopt;
}

std::optional<int> end_of(pid_t pid) noexcept {
  int status = 0;
  return ::waitpid(pid, &status, WNOHANG) == pid ? std::optional(status) : std::nullopt;
}

int exit_code_of_status(int status) noexcept {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace tailrace
