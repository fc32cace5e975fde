#include "ledger/set_aside.hpp"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>

#include "ledger/database.hpp"
#include "ledger/files_column.hpp"
#include "ledger/group_table.hpp"
#include "ledger/item_record.hpp"
#include "ledger/item_rows.hpp"
#include "ledger/job_row.hpp"
#include "ledger/name_table.hpp"
#include "ledger/transaction.hpp"

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

/// Runs a DELETE … RETURNING of items' rows, and writes down that somebody wants them done again. The items.
std::vector<std::uint64_t> remove_rows(Database& database, std::int64_t group, Statement& remove) {
  std::vector<std::uint64_t> items;
  while (remove.step()) items.push_back(remove.count(0));
  if (items.empty()) return items;
  database.prepare("INSERT INTO retries(group_id, items, unix_time) VALUES(?, ?, ?)")
      .bind(group, std::uint64_t{items.size()}, std::int64_t{std::time(nullptr)})
      .run();
  database.run("UPDATE job SET complete = 0");
  return items;
}

/// "…/quarantine/GROUP/batch-N/slot.bin" → "GROUP/batch-N"
std::string place_of(const std::filesystem::path& file) {
  const auto folder = file.parent_path();
  return folder.parent_path().filename().string() + "/" + folder.filename().string();
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
  const auto items = remove_rows(database, *id, remove);
  transaction.commit();
  return items.size();
}

std::uint64_t forget_set_aside(Ledger& ledger, const std::string& group, std::uint64_t batch) {
  Database& database = ledger.database();
  Transaction transaction(database, Transaction::Kind::kWrite);
  const std::optional<std::int64_t> id = find_group(database, group);
  if (!id) return 0;
  Statement remove =
      database.prepare("DELETE FROM items WHERE group_id = ? AND batch = ? AND state = ? RETURNING item");
  remove.bind(*id, batch, kSetAside);
  const auto items = remove_rows(database, *id, remove);
  if (items.empty()) return 0;
  Statement trial = database.prepare("DELETE FROM trials WHERE group_id = ? AND item = ?");
  for (const std::uint64_t item : items) trial.bind(*id, item).run();
  database.prepare("DELETE FROM failures WHERE group_id = ? AND batch = ?").bind(*id, batch).run();
  transaction.commit();
  return items.size();
}

void remove_settled_batches(Ledger& ledger, const std::string& state_folder) {
  std::set<std::string> kept;
  for (const SetAsideBatch& batch : set_aside_batches(ledger))
    for (const std::string& file : batch.files) kept.insert(place_of(file));
  std::error_code error;
  std::vector<std::filesystem::path> settled;
  for (const auto& group : std::filesystem::directory_iterator(state_folder + "/quarantine", error))
    for (const auto& batch : std::filesystem::directory_iterator(group.path(), error))
      if (kept.count(place_of(batch.path() / "file")) == 0) settled.push_back(batch.path());
  for (const auto& folder : settled) std::filesystem::remove_all(folder, error);
}

}  // namespace tailrace
