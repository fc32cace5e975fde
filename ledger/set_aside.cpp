#include "ledger/set_aside.hpp"

#include <algorithm>
#include <optional>

#include "ledger/database.hpp"
#include "ledger/files_column.hpp"
#include "ledger/group_table.hpp"
#include "ledger/item_record.hpp"
#include "ledger/item_rows.hpp"
#include "ledger/job_row.hpp"
#include "ledger/name_table.hpp"

namespace tailrace {
namespace {

constexpr int kSetAside = static_cast<int>(ItemState::kSetAside);

/// Adds what is not there yet: the rows of a batch mostly name the same files.
void add_new(std::vector<std::string>& files, const std::vector<std::string>& more) {
  for (const std::string& file : more)
    if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
}

class NameOfItem {
 public:
  explicit NameOfItem(Database& database)
      : table_(database), items_(read_job(database).value_or(JobRow{}).items) {}

  std::string operator()(std::uint64_t item) {
    const auto position = position_of(item, items_);
    return position ? std::string(table_.at(*position)) : std::string();
  }

 private:
  NameTable table_;
  ItemMap items_;
};

/// Runs a DELETE … RETURNING of items' rows. How many there were; where there were any, the job is not
/// complete any more.
std::uint64_t run_removal(Database& database, Statement& remove) {
  std::uint64_t count = 0;
  while (remove.step()) ++count;
  if (count != 0) database.run("UPDATE job SET complete = 0");
  return count;
}

}  // namespace

std::vector<SetAsideBatch> set_aside_batches(Ledger& ledger) {
  Database& database = ledger.database();
  const Transaction transaction(database, Transaction::Kind::kRead);
  NameOfItem name_of(database);
  Statement row = database.prepare(
      "SELECT name, batch, item, attempts, reason, files FROM items JOIN groups ON groups.id = group_id"
      " WHERE state = ? ORDER BY name, batch, item");
  row.bind(kSetAside);
  std::vector<SetAsideBatch> batches;
  while (row.step()) {
    if (batches.empty() || batches.back().group != row.text(0) || batches.back().batch != row.count(1)) {
      batches.emplace_back().group = row.text(0);
      batches.back().batch = row.count(1);
    }
    SetAsideBatch& batch = batches.back();
    batch.items.push_back(row.count(2));
    batch.names.push_back(name_of(row.count(2)));
    batch.attempts = std::max(batch.attempts, static_cast<std::uint32_t>(row.count(3)));
    if (batch.reason.empty()) batch.reason = row.text(4);
    add_new(batch.files, from_files_column(row.text(5)));
  }
  return batches;
}

std::uint64_t forget_skipped(Ledger& ledger, const std::string& group) {
  Database& database = ledger.database();
  Transaction transaction(database, Transaction::Kind::kWrite);
  const std::optional<std::int64_t> id = find_group(database, group);
  if (!id) return 0;
  Statement remove = database.prepare("DELETE FROM items WHERE group_id = ? AND state = ? RETURNING item");
  remove.bind(*id, static_cast<int>(ItemState::kSkipped));
  const std::uint64_t count = run_removal(database, remove);
  transaction.commit();
  return count;
}

std::uint64_t forget_set_aside(Ledger& ledger, const std::string& group, std::uint64_t batch) {
  Database& database = ledger.database();
  Transaction transaction(database, Transaction::Kind::kWrite);
  const std::optional<std::int64_t> id = find_group(database, group);
  if (!id) return 0;
  Statement remove =
      database.prepare("DELETE FROM items WHERE group_id = ? AND batch = ? AND state = ? RETURNING item");
  remove.bind(*id, batch, kSetAside);
  const std::uint64_t count = run_removal(database, remove);
  if (count == 0) return 0;
  database
      .prepare(
          "DELETE FROM trials WHERE group_id = ? AND NOT EXISTS(SELECT 1 FROM items"
          " WHERE items.group_id = trials.group_id AND items.item = trials.item)")
      .bind(*id)
      .run();
  database.prepare("DELETE FROM failures WHERE group_id = ? AND batch = ?").bind(*id, batch).run();
  transaction.commit();
  return count;
}

}  // namespace tailrace
