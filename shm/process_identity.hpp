#pragma once

#include <sys/types.h>

#include <cstdint>

#include "shm/byte_lock.hpp"

namespace tailrace {

/// Names one process for good: a pid alone is given to others later.
struct ProcessIdentity {
  pid_t pid = 0;
  std::uint64_t start_time = 0;     // clock ticks since boot; 0 = could not be read
  std::uint64_t pid_namespace = 0;  // inode of /proc/PID/ns/pid

  bool operator==(const ProcessIdentity&) const = default;
};

ProcessIdentity own_identity();

enum class ProcessFate {
  kAlive,
  kGone,
  kUnknown,  // it lives in another pid namespace: its pid means nothing here
};

struct ProcessWatch {
  ProcessFate fate = ProcessFate::kUnknown;
  UniqueFd pidfd;  // where alive: readable when the process ends
};

/// Looks for exactly this process: another start time is another process; pid 0 is nobody.
ProcessWatch watch_process(const ProcessIdentity& identity) noexcept;

/// Whether the process behind `pidfd` has ended; waits up to `timeout_ms`.
bool has_ended(int pidfd, int timeout_ms) noexcept;

}  // namespace tailrace
