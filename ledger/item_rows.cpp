#include "ledger/item_rows.hpp"

#include <cerrno>
#include <vector>

#include "ledger/ledger.hpp"
#include "ledger/schema.hpp"
#include "os/io_error.hpp"

namespace tailrace {
namespace {

std::vector<std::int64_t> all_groups(Database& database) {
  std::vector<std::int64_t> groups;
  for (Statement row = database.prepare("SELECT id FROM groups"); row.step();)
    groups.push_back(row.integer(0));
  return groups;
}

}  // namespace

ItemState item_state(const Statement& row, int column, const Database& database) {
  const std::int64_t state = row.integer(column);
  if (state < static_cast<int>(ItemState::kDone) || state > static_cast<int>(ItemState::kSetAside))
    throw LedgerError(EBADMSG, "the ledger " + in_quotes(database.path()) +
                                   " has an item in the unknown state " + std::to_string(state) +
                                   "; remove the folder to begin anew");
  return static_cast<ItemState>(state);
}

std::optional<std::uint64_t> position_of(std::uint64_t item, const ItemMap& items) noexcept {
  const std::uint64_t position = item / items.shard_count;
  if (item % items.shard_count != items.shard_index || position >= items.position_count) return std::nullopt;
  return position;
}

void for_each_row(Database& database, std::int64_t group, const ItemMap& items,
                  const std::function<void(std::uint64_t, ItemState)>& visit) {
  Statement row = database.prepare("SELECT item, state FROM items WHERE group_id = ? ORDER BY item");
  row.bind(group);
  while (row.step())
    if (const auto position = position_of(row.count(0), items))
      visit(*position, item_state(row, 1, database));
}

void renumber_rows(Database& database, const ListChange& change, const ItemMap& before,
                   const ItemMap& after) {
  const std::vector<std::int64_t> groups = all_groups(database);
  database.run("ALTER TABLE items RENAME TO items_before");
  database.run(kCreateItems);
  {
    Statement move = database.prepare(
        "INSERT INTO items SELECT group_id, ?, state, batch, row, files, bytes, checksum, attempts, reason"
        " FROM items_before WHERE group_id = ? AND item = ?");
    for (const std::int64_t group : groups)
      for (std::uint64_t position = 0; position < change.former.size(); ++position)
        if (const std::uint64_t former = change.former[position]; former != ListChange::kNew)
          move.bind(after.item(position), group, before.item(former)).run();
  }
  database.run("DROP TABLE items_before");
  database.run("DELETE FROM trials");  // of items with other indices now
}

void drop_former_failures(Database& database) {
  database
      .prepare(
          "DELETE FROM failures WHERE (group_id, batch) NOT IN"
          " (SELECT group_id, batch FROM items WHERE state = ?)")
      .bind(static_cast<int>(ItemState::kSetAside))
      .run();
}

}  // namespace tailrace
