#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "ledger/item_record.hpp"
#include "ledger/job_ledger.hpp"
#include "ledger/ledger.hpp"
#include "tests/sources/temp_folder.hpp"

namespace tailrace::testing {

inline ItemRecord record_of(std::uint64_t item, ItemState state = ItemState::kDone) {
  ItemRecord record;
  record.item = item;
  record.state = state;
  record.batch = item / 4;
  record.row = static_cast<std::uint32_t>(item % 4);
  return record;
}

/// A job of `names`, four in a batch.
inline JobIdentity job_of(const std::vector<std::string>& names, std::uint64_t list_digest = 1) {
  JobIdentity job;
  job.pipeline = "seg";
  job.list_digest = list_digest;
  job.items = {.position_count = names.size(), .batch_size = 4};
  return job;
}

inline JobLedger::NameAt at(const std::vector<std::string>& names) {
  return [&names](std::uint64_t position) { return names.at(position); };
}

/// The LedgerError of `call` as "errno: message"; empty = none.
template <typename Call>
std::string fault_of(Call call) {
  try {
    call();
  } catch (const LedgerError& error) {
    return std::to_string(error.code().value()) + ": " + error.what();
  }
  return {};
}

/// Start of fault_of() for an errno.
inline auto has_code(int code) { return ::testing::StartsWith(std::to_string(code) + ": "); }

/// What `sqlite3_step` gives for the first column of the first row, as text: looks into a file as others do.
std::string query(const std::string& state_folder, const std::string& sql);

}  // namespace tailrace::testing
