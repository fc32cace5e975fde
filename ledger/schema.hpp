#pragma once

#include <string_view>

#include "ledger/database.hpp"

namespace tailrace {

/// Version of the tables, in the file's user_version.
inline constexpr int kLedgerVersion = 1;

/// Statement that makes the table of items.
extern const std::string_view kCreateItems;

/// Makes an empty file a ledger; several processes may do so at once, and each may be killed on the way.
/// LedgerError where the file is no ledger or of another version (EBADMSG), or empty and cannot be written
/// (ENOENT).
void ensure_schema(Database& database, Database::Access access);

}  // namespace tailrace
