#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ledger/database.hpp"
#include "shm/item_map.hpp"

namespace tailrace {

/// The ledger's only row about the job.
struct JobRow {
  std::string pipeline;
  std::uint64_t list_digest = 0;
  std::optional<std::uint64_t> model_digest;  // nullopt = the items' rows were made with several
  ItemMap items;
  bool complete = false;
  bool fixed_batches = false;   // files of some group, now or before, hold whole batches
  std::uint64_t ledger_id = 0;  // random; another one for another list of items
};

/// nullopt: no job has used the ledger yet. LedgerError (EBADMSG) where the row makes no sense.
[[nodiscard]] std::optional<JobRow> read_job(Database& database);

void write_job(Database& database, const JobRow& job);

}  // namespace tailrace
