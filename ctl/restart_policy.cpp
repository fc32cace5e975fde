#include "ctl/restart_policy.hpp"

#include <algorithm>

#include "config/exit_codes.hpp"

namespace tailrace {
namespace {

constexpr std::chrono::milliseconds kFirstPause{100};
constexpr unsigned kMostDoublings = 5;  // 3.2 s

// What only a person can mend.
bool is_final(int code) {
  return code == kExitUsage || code == kExitDamagedRing || code == kExitNoDevice || code == kExitPermission ||
         code == kExitConfig;
}

}  // namespace

std::optional<std::chrono::milliseconds> RestartPolicy::pause_before_restart(int code, bool served) {
  has_served_ = has_served_ || served;
  deaths_in_vain_ = served ? 1 : deaths_in_vain_ + 1;
  if (is_final(code)) return std::nullopt;
  // A consumer has tried for a while before it gives up on a full disk; its successor has, too.
  if (code == kExitIo && !served) return std::nullopt;
  // What has worked once will work again: it may have been killed while there was nothing to do.
  if (!has_served_ && deaths_in_vain_ >= kMaxDeathsBeforeFirstBatch) return std::nullopt;
  return kFirstPause * (1U << std::min(deaths_in_vain_ - 1, kMostDoublings));
}

}  // namespace tailrace
