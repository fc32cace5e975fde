#include "shm/process_identity.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

namespace tailrace {
namespace {

// Field 22 of /proc/PID/stat; the fields are counted after the last ')', since the command name may hold
// anything.
std::uint64_t start_time_of(pid_t pid) noexcept {
  std::array<char, 32> path{};
  std::array<char, 1024> text{};
  snprintf(path.data(), path.size(), "/proc/%d/stat", pid);
  UniqueFd file(open(path.data(), O_RDONLY | O_CLOEXEC));
  if (!file) return 0;
  const ssize_t length = read(file.get(), text.data(), text.size() - 1);
  if (length <= 0) return 0;
  const char* at = std::strrchr(text.data(), ')');
  for (int field = 2; at != nullptr && field < 22; ++field) at = std::strchr(at + 1, ' ');
  return at == nullptr ? 0 : std::strtoull(at, nullptr, 10);
}

std::uint64_t own_pid_namespace() noexcept {
  struct stat status {};
  return stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

}  // namespace

ProcessIdentity own_identity() { return {getpid(), start_time_of(getpid()), own_pid_namespace()}; }

ProcessWatch watch_process(const ProcessIdentity& identity) noexcept {
  if (identity.pid == 0) return {ProcessFate::kGone, {}};
  if (identity.pid_namespace != own_pid_namespace()) return {ProcessFate::kUnknown, {}};
  UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, identity.pid, 0)));
  if (!pidfd) return {errno == ESRCH ? ProcessFate::kGone : ProcessFate::kUnknown, {}};
  const std::uint64_t start_time = start_time_of(identity.pid);
  if (has_ended(pidfd.get(), 0)) return {ProcessFate::kGone, {}};
  if (start_time != 0 && identity.start_time != 0 && start_time != identity.start_time)
    return {ProcessFate::kGone, {}};
  return {ProcessFate::kAlive, std::move(pidfd)};
}

bool has_ended(int pidfd, int timeout_ms) noexcept {
  pollfd entry{pidfd, POLLIN, 0};
  return poll(&entry, 1, timeout_ms) > 0 && (entry.revents & POLLIN) != 0;
}

}  // namespace tailrace
