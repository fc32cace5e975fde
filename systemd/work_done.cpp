#include "systemd/work_done.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace tailrace {
namespace {

constexpr std::uint64_t kCpuStepUs = 500'000;  // of computing: little of it is always going on

std::uint64_t micros(const timeval& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(time.tv_usec);
}

std::uint64_t pages_and_blocks(const rusage& usage) {
  return static_cast<std::uint64_t>(usage.ru_minflt + usage.ru_majflt + usage.ru_inblock);
}

// The kernel estimates times: those of a thread may be ahead of its process's.
std::uint64_t without(std::uint64_t all, std::uint64_t own) { return all - std::min(all, own); }

}  // namespace

std::uint64_t work_done_by_others(bool with_cpu) {
  rusage all{};
  rusage own{};
  getrusage(RUSAGE_THREAD, &own);
  getrusage(RUSAGE_SELF, &all);
  const std::uint64_t moved = without(pages_and_blocks(all), pages_and_blocks(own));
  return with_cpu ? moved + without(micros(all.ru_utime), micros(own.ru_utime)) / kCpuStepUs : moved;
}

}  // namespace tailrace
