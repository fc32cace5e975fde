#include "ledger/group_ledger.hpp"

#include <utility>

#include "ledger/database.hpp"
#include "ledger/files_column.hpp"
#include "ledger/group_table.hpp"
#include "ledger/transaction.hpp"
#include "os/failpoint.hpp"

namespace tailrace {
namespace {

std::optional<std::string> unless_empty(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

std::optional<Bits> bits_of(std::optional<std::uint64_t> checksum) {
  return checksum ? std::optional(Bits{*checksum}) : std::nullopt;
}

}  // namespace

GroupLedger::GroupLedger(Ledger ledger, const std::string& group)
    : ledger_(std::move(ledger)), group_(find_or_add_group(ledger_.database(), group)) {}

std::vector<bool> GroupLedger::finished(std::span<const std::uint64_t> items) {
  std::vector<bool> finished(items.size());
  if (items.empty()) return finished;
  Statement rows = ledger_.database().prepare(
      "SELECT item FROM items WHERE group_id = ? AND item BETWEEN ? AND ? ORDER BY item");
  rows.bind(group_, items.front(), items.back());
  for (std::size_t i = 0; i < items.size() && rows.step();) {
    const std::uint64_t item = rows.count(0);
    while (i < items.size() && items[i] < item) ++i;
    if (i < items.size() && items[i] == item) finished[i++] = true;
  }
  return finished;
}

void GroupLedger::record(std::span<const ItemRecord> records) {
  if (records.empty()) return;
  Transaction transaction(ledger_.database(), Transaction::Kind::kWrite);
  Statement row = ledger_.database().prepare(
      "INSERT INTO items(group_id, item, state, batch, row, files, bytes, checksum, attempts, reason)"
      " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING");
  for (const ItemRecord& record : records)
    row.bind(group_, record.item, static_cast<int>(record.state), record.batch, record.row,
             to_files_column(record.files), record.bytes, bits_of(record.checksum), record.attempts,
             unless_empty(record.reason))
        .run();
  failpoint("mid_ledger");
  transaction.commit();
}

std::uint32_t GroupLedger::begin_trial(std::uint64_t item) {
  Transaction transaction(ledger_.database(), Transaction::Kind::kWrite);
  Statement begun = ledger_.database().prepare(
      "INSERT INTO trials(group_id, item, begun) VALUES(?, ?, 1)"
      " ON CONFLICT DO UPDATE SET begun = begun + 1 RETURNING begun");
  begun.bind(group_, item);
  const auto count = static_cast<std::uint32_t>(begun.step() ? begun.count(0) : 0);
  while (begun.step()) continue;
  transaction.commit();
  return count;
}

void GroupLedger::end_trial(std::uint64_t item) {
  Transaction transaction(ledger_.database(), Transaction::Kind::kWrite);
  ledger_.database().prepare("DELETE FROM trials WHERE group_id = ? AND item = ?").bind(group_, item).run();
  transaction.commit();
}

}  // namespace tailrace
