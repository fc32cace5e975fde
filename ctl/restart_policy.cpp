#include "ctl/restart_policy.hpp"

#include <algorithm>

#include "config/exit_codes.hpp"

namespace tailrace {
namespace {

constexpr std::chrono::milliseconds kFirstPause{100};

// What only a person can mend.
bool is_final(int code) {
  return code == kExitUsage || code == kExitDamagedRing || code == kExitNoDevice || code == kExitPermission ||
         code == kExitConfig;
}

}  // namespace

std::optional<std::chrono::milliseconds> RestartPolicy::pause_before_restart(int code, bool served) {
  deaths_in_vain_ = served ? 0 : deaths_in_vain_ + 1;
  if (is_final(code) || deaths_in_vain_ >= kMaxDeathsBeforeFirstBatch) return std::nullopt;
  return kFirstPause * (1U << (std::max(deaths_in_vain_, 1U) - 1));
}

}  // namespace tailrace
