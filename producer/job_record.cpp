#include "producer/job_record.hpp"

#include <spdlog/spdlog.h>

#include "config/exit_codes.hpp"
#include "ledger/manifest.hpp"
#include "shm/failpoint.hpp"

namespace tailrace {

int JobRecord::finish() {
  bool whole = true;
  bool left_out = false;
  for (const GroupTotals& totals : ledger_->totals(groups_)) {
    spdlog::info("group {}: {} items done, {} skipped, {} set aside", totals.group, totals.done,
                 totals.skipped, totals.set_aside);
    if (totals.set_aside != 0)
      spdlog::warn(
          "`tailrace quarantine show` says why, `tailrace quarantine retry` has them done by the next run");
    left_out = left_out || totals.skipped + totals.set_aside != 0;
    if (totals.missing == 0) continue;
    whole = false;
    spdlog::error(
        "group {}: {} items are not in the ledger, the first one is item {}; the next run does them",
        totals.group, totals.missing, *totals.first_missing);
  }
  if (!whole) return kExitUnexpected;
  write_manifest(ledger_->ledger(), state_, groups_);
  failpoint("after_manifest");
  ledger_->mark_complete();
  return left_out ? kExitSkippedItems : kExitDone;
}

}  // namespace tailrace
