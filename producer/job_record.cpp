#include "producer/job_record.hpp"

#include <spdlog/spdlog.h>

#include "config/exit_codes.hpp"
#include "ledger/manifest.hpp"
#include "ledger/set_aside.hpp"
#include "os/failpoint.hpp"
#include "systemd/work_done.hpp"

namespace tailrace {

void JobRecord::look_for_ledger() noexcept {
  if (!file_ || !file_->is_there()) lost_ = true;
}

void JobRecord::require_ledger() const {
  if (is_lost()) throw LedgerLost(ledger_path(state_));
}

BatchPlan JobRecord::plan() {
  retries_ = ledger_->retries();
  return {items_, ledger_->finished(groups_)};
}

std::optional<int> JobRecord::finish() {
  if (ledger_->retries() != retries_) return std::nullopt;
  const Lifesign::Stage stage(*life_, "comparing counts and writing the manifest",
                              [] { return work_done_by_others(true); });
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
  if (!whole) return ledger_->retries() == retries_ ? std::optional<int>(kExitUnexpected) : std::nullopt;
  write_manifest(ledger_->ledger(), state_, groups_);
  failpoint("after_manifest");
  if (!ledger_->mark_complete(retries_)) return std::nullopt;
  remove_settled_batches(ledger_->ledger(), state_);
  return left_out ? kExitSkippedItems : kExitDone;
}

}  // namespace tailrace
