#pragma once

#include <string>
#include <vector>

#include "ledger/job_ledger.hpp"
#include "producer/batch_plan.hpp"

namespace tailrace {

/// The job as the ledger knows it. Used by the producer's main thread. Throws LedgerError.
class JobRecord {
 public:
  /// `state`: folder of the ledger and of the manifest. `ledger`: its job has begun; outlives this.
  JobRecord(JobLedger& ledger, const ItemMap& items, std::string state, std::vector<std::string> groups)
      : ledger_(&ledger), items_(items), state_(std::move(state)), groups_(std::move(groups)) {}

  [[nodiscard]] std::uint64_t ledger_id() const { return ledger_->id(); }
  /// What is to do at this moment.
  [[nodiscard]] BatchPlan plan() const { return {items_, ledger_->finished(groups_)}; }

  /// To be called when every group has everything: compares the ledger's counts with the job's items, writes
  /// manifest.jsonl and marks the ledger complete. Returns the exit code: items that are missing in the
  /// ledger are an error, and then nothing is marked. May be called again.
  int finish();

 private:
  JobLedger* ledger_;
  ItemMap items_;
  std::string state_;
  std::vector<std::string> groups_;
};

}  // namespace tailrace
