#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ledger/item_record.hpp"
#include "ledger/ledger.hpp"

namespace tailrace {

/// What one group of consumers writes into the ledger and reads there. One per consumer process (or group of
/// an `inline` producer); one thread. All throw LedgerError.
class GroupLedger {
 public:
  GroupLedger(Ledger ledger, const std::string& group);

  /// For each of `items` (ascending), whether the group is through with it.
  [[nodiscard]] std::vector<bool> finished(std::span<const std::uint64_t> items);

  /// All of `records` in one transaction, which survives the death of any process when this returns. A row
  /// that is there already stays as it is.
  void record(std::span<const ItemRecord> records);

  /// Says that `item` is about to be processed alone, because its batch cannot be. Returns how often that has
  /// begun without an end: more than 1 where earlier consumers died of it.
  std::uint32_t begin_trial(std::uint64_t item);
  /// It has come to an end that the consumer survived.
  void end_trial(std::uint64_t item);

 private:
  Ledger ledger_;
  std::int64_t group_;  // its number
};

}  // namespace tailrace
