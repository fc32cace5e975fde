#pragma once

#include <span>
#include <string>

#include "ledger/ledger.hpp"

namespace tailrace {

/// Writes STATE/manifest.jsonl: one line per item of the job, in its order, as of one moment (docs/ledger.md
/// has the keys). It replaces a former one when it is whole and durable. Needs little memory, whatever the
/// number of items. Throws FileError: of the file, or LedgerError.
void write_manifest(Ledger& ledger, const std::string& state_folder, std::span<const std::string> groups);

/// Takes a former manifest away, if there is one.
void remove_manifest(const std::string& state_folder) noexcept;

}  // namespace tailrace
