#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ledger/ledger.hpp"

namespace tailrace {

/// A batch that a group has given up.
struct SetAsideBatch {
  std::string group;
  std::uint64_t batch = 0;
  std::vector<std::uint64_t> items;  // ascending
  std::vector<std::string> names;    // of the items; empty where an item is not in the job
  std::uint32_t attempts = 0;
  std::string reason;
  std::vector<std::string> files;  // where its bytes and the reason were saved
};

/// By group, then batch. Throws LedgerError.
[[nodiscard]] std::vector<SetAsideBatch> set_aside_batches(Ledger& ledger);

/// Drops what the ledger says about the items of a batch that was set aside, and its failures: the run that
/// goes on does them again before it ends, or the next one; the job counts as incomplete. Returns how many
/// items there were. Throws LedgerError.
std::uint64_t forget_set_aside(Ledger& ledger, const std::string& group, std::uint64_t batch);

/// The same for the items that `group` skipped because they could not be read.
std::uint64_t forget_skipped(Ledger& ledger, const std::string& group);

/// Removes what was saved (STATE/quarantine/GROUP/batch-N) of batches of which nothing is set aside any more:
/// they were retried, and done. What cannot be removed stays. Throws LedgerError.
void remove_settled_batches(Ledger& ledger, const std::string& state_folder);

}  // namespace tailrace
