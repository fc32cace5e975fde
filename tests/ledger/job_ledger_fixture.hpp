#pragma once

#include <string>
#include <vector>

#include "ledger/group_ledger.hpp"
#include "tests/ledger/support.hpp"

namespace tailrace::testing {

using Names = std::vector<std::string>;

inline const Names kNames{"a.jpg", "b.jpg", "c.jpg", "d.jpg", "e.jpg"};
inline const std::vector<std::string> kMasks{"masks"};

/// A pipeline's state in a folder of its own.
class JobLedgerTest : public ::testing::Test {
 protected:
  JobLedger job() const { return JobLedger(Ledger::create(folder())); }
  std::string folder() const { return temporary_.path() / "state"; }

  void record(const std::string& group, const std::vector<ItemRecord>& records) const {
    GroupLedger(Ledger::create(folder()), group).record(records);
  }
  /// The message of JobChanged; empty = none.
  std::string change_of(const JobIdentity& identity, const Names& names) const {
    try {
      (void)job().begin(identity, at(names), false);
    } catch (const JobChanged& changed) {
      return changed.what();
    }
    return {};
  }
  /// "group:item→row…", in order: `row` was set to the item's first index by record_of().
  std::string rows() const {
    return query(folder(), "SELECT group_concat(item || '<' || (batch * 4 + row)) FROM items");
  }

  TempFolder temporary_;
};

inline JobIdentity with_sink(JobIdentity job, const std::string& text) {
  job.sinks.push_back({"masks", text, [](const std::vector<std::string>& files) { return files; }});
  return job;
}

}  // namespace tailrace::testing
