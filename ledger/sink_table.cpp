#include "ledger/sink_table.hpp"

#include "ledger/group_table.hpp"
#include "ledger/item_record.hpp"
#include "os/io_error.hpp"

namespace tailrace {
namespace {

bool has_results(Database& database, std::int64_t group) {
  Statement any = database.prepare("SELECT EXISTS(SELECT 1 FROM items WHERE group_id = ? AND state = ?)");
  any.bind(group, static_cast<int>(ItemState::kDone));
  return any.step() && any.integer(0) != 0;
}

/// NULL: several sinks have made results.
std::string describe_former(const Statement& row) {
  return row.is_null(0) ? "by several sinks" : "by " + std::string(row.text(0));
}

}  // namespace

std::optional<std::string> note_sink(Database& database, const std::string& group, const std::string& sink) {
  const std::int64_t id = find_or_add_group(database, group);
  std::optional<std::string> warning;
  {
    Statement row = database.prepare("SELECT sink FROM sinks WHERE group_id = ?");
    row.bind(id);
    const bool is_known = row.step();
    if (is_known && !row.is_null(0) && row.text(0) == sink) return std::nullopt;
    if (is_known && has_results(database, id))
      warning = "group " + group + ": results in the ledger " + in_quotes(database.path()) + " were made " +
                describe_former(row) + ", from now on they are made by " + sink +
                "; finished items stay as they are. To make all anew, delete the folder";
  }
  database.prepare("INSERT OR REPLACE INTO sinks(group_id, sink) VALUES(?, ?)")
      .bind(id, warning ? std::nullopt : std::optional(sink))
      .run();
  return warning;
}

}  // namespace tailrace
