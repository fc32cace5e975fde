#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "ledger/job_ledger.hpp"
#include "ledger/ledger_file.hpp"
#include "producer/batch_plan.hpp"
#include "systemd/lifesign.hpp"

namespace tailrace {

/// The job as the ledger knows it. Used by the producer's main thread, but for what says otherwise. Throws
/// LedgerError.
class JobRecord {
 public:
  /// `state`: folder of the ledger and of the manifest. `ledger`: its job has begun; outlives this.
  /// `life` is told what finish() is at, and outlives this.
  JobRecord(JobLedger& ledger, const ItemMap& items, std::string state, std::vector<std::string> groups,
            Lifesign& life)
      : ledger_(&ledger),
        items_(items),
        state_(std::move(state)),
        groups_(std::move(groups)),
        life_(&life),
        file_(LedgerFile::find(state_)) {}

  [[nodiscard]] std::uint64_t ledger_id() const { return ledger_->id(); }
  /// What is to do at this moment.
  [[nodiscard]] BatchPlan plan();

  /// Looks whether the ledger is still there. Any thread.
  void look_for_ledger() noexcept;
  /// At the last look somebody had removed or replaced the ledger: nothing can be written down any more, even
  /// if it is put back. Any thread.
  [[nodiscard]] bool is_lost() const noexcept { return lost_; }
  /// Throws LedgerLost where is_lost().
  void require_ledger() const;

  /// To be called when every group has everything that was planned: compares the ledger's counts with the
  /// job's items, writes manifest.jsonl and marks the ledger complete. Returns the exit code: items that are
  /// missing in the ledger are an error, and then nothing is marked. Empty: not yet, since the last plan()
  /// somebody has had items done again. May be called again.
  std::optional<int> finish();

 private:
  JobLedger* ledger_;
  ItemMap items_;
  std::string state_;
  std::vector<std::string> groups_;
  Lifesign* life_;
  const std::optional<LedgerFile> file_;
  std::atomic<bool> lost_{false};
  std::uint64_t retries_ = 0;  // before the last plan
};

}  // namespace tailrace
