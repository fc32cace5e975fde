#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "consumer/sinks/sink.hpp"
#include "ledger/group_ledger.hpp"

namespace tailrace {

/// A sink whose results are written into the ledger: an item that is in it is not processed again, and one
/// that has been processed is in it before the batch counts as done. One thread.
class RecordingSink {
 public:
  static constexpr std::uint32_t kMaxTrials = 2;

  /// What process_singly() calls.
  struct Singly {
    std::function<void()> on_begun;  // an item is about to be processed alone
    /// Saves an item that is set aside for `reason`, and says in which files.
    std::function<std::vector<std::string>(const Row& row, const std::string& reason)> set_aside;
  };

  /// What became of a batch.
  struct Outcome {
    std::uint64_t items = 0;  // done, now or before
    std::uint64_t skipped = 0;
    std::uint64_t set_aside = 0;
    std::uint64_t bytes = 0;  // read now
    bool found_done = false;  // the ledger had every item: nothing was processed
  };

  /// The sink outlives this object.
  RecordingSink(Sink& sink, GroupLedger ledger) : sink_(&sink), ledger_(std::move(ledger)) {}

  /// `attempts`: deliveries of this batch, this one included. Doing the same batch twice is harmless. Throws
  /// as Sink::process, and LedgerError.
  Outcome process(const BatchView& batch, std::uint32_t attempts);

  /// The same for a batch that cannot be processed as a whole: each item alone. What fails alone, or has
  /// killed kMaxTrials consumers alone, is given to `set_aside` and written down as such.
  Outcome process_singly(const BatchView& batch, std::uint32_t attempts, const Singly& calls);

  /// Whether the ledger has all of `items` (ascending). Throws LedgerError.
  [[nodiscard]] bool has_all(std::span<const std::uint64_t> items);

  /// Writes down that `items` (ascending) are set aside, those that are not finished; `files` say where.
  /// Throws LedgerError.
  void set_aside(BatchNumber batch, std::span<const std::uint64_t> items, std::uint32_t attempts,
                 const std::vector<std::string>& files, const std::string& reason);

 private:
  void process_alone(const BatchView& batch, std::uint32_t row, std::uint32_t attempts, const Singly& calls,
                     Outcome& outcome);

  Sink* sink_;
  GroupLedger ledger_;
};

}  // namespace tailrace
