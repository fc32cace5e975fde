#include "ledger/group_table.hpp"

namespace tailrace {

std::optional<std::int64_t> find_group(Database& database, const std::string& name) {
  Statement group = database.prepare("SELECT id FROM groups WHERE name = ?");
  if (!group.bind(name).step()) return std::nullopt;
  return group.integer(0);
}

std::int64_t find_or_add_group(Database& database, const std::string& name) {
  if (const auto id = find_group(database, name)) return *id;
  database.prepare("INSERT INTO groups(name) VALUES(?) ON CONFLICT DO NOTHING").bind(name).run();
  return find_group(database, name).value();
}

}  // namespace tailrace
