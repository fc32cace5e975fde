#pragma once

#include <optional>
#include <string>

#include "ledger/database.hpp"

namespace tailrace {

/// Notes what makes the results of `group` from now on: `sink`, a text that differs where results may. Where
/// the group has results that were made by another one, a warning for people that they stay as they are. In
/// the caller's transaction.
[[nodiscard]] std::optional<std::string> note_sink(Database& database, const std::string& group,
                                                   const std::string& sink);

}  // namespace tailrace
