#include "files/storage_time.hpp"

#include "os/clock.hpp"

namespace tailrace {
namespace {

struct ThreadTime {
  std::uint64_t total_ns = 0;  // of the waits that have ended
  std::uint64_t begun_ns = 0;  // of the outermost wait that lasts
  std::uint32_t depth = 0;
};

thread_local ThreadTime thread_time;

}  // namespace

std::uint64_t storage_ns() noexcept {
  const ThreadTime& time = thread_time;
  return time.total_ns + (time.depth == 0 ? 0 : monotonic_ns() - time.begun_ns);
}

StorageWait::StorageWait() noexcept {
  if (thread_time.depth++ == 0) thread_time.begun_ns = monotonic_ns();
}

StorageWait::~StorageWait() {
  if (--thread_time.depth == 0) thread_time.total_ns += monotonic_ns() - thread_time.begun_ns;
}

}  // namespace tailrace
