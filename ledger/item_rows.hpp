#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "ledger/database.hpp"
#include "ledger/item_record.hpp"
#include "ledger/list_change.hpp"

namespace tailrace {

/// A stored state. LedgerError (EBADMSG) where it is none.
[[nodiscard]] ItemState item_state(const Statement& row, int column, const Database& database);

/// Where an item of the whole list stands in the job; nullopt = it is not in it.
[[nodiscard]] std::optional<std::uint64_t> position_of(std::uint64_t item, const ItemMap& items) noexcept;

/// Visits what a group has written about the items of the job, by position, ascending.
void for_each_row(Database& database, std::int64_t group, const ItemMap& items,
                  const std::function<void(std::uint64_t position, ItemState state)>& visit);

/// Gives the rows of all groups the indices that their items have in the new list; rows of items that are
/// gone, or were not in the old job, are dropped. In the caller's transaction.
void renumber_rows(Database& database, const ListChange& change, const ItemMap& before, const ItemMap& after);

/// Drops the failures of batches that are not set aside. For when the numbers of batches come to mean others.
/// In the caller's transaction.
void drop_former_failures(Database& database);

}  // namespace tailrace
