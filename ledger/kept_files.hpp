#pragma once

#include "ledger/database.hpp"
#include "ledger/job_ledger.hpp"

namespace tailrace {

/// Throws JobChanged where a file that the ledger has of a finished item would be replaced by that of another
/// one, which is still to be done: two lists of items may choose the same output name for different items. In
/// the caller's transaction.
void refuse_to_replace_files(Database& database, const JobIdentity& job, const JobLedger::NameAt& name_at);

}  // namespace tailrace
