#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ledger/database.hpp"

namespace tailrace {

/// Number of a group in the ledger; nullopt = it has never written there.
[[nodiscard]] std::optional<std::int64_t> find_group(Database& database, const std::string& name);

/// The same, but a new group gets a number. In a transaction or by itself.
[[nodiscard]] std::int64_t find_or_add_group(Database& database, const std::string& name);

}  // namespace tailrace
