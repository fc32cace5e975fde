#include "ledger/incidents.hpp"

#include <ctime>

#include "ledger/database.hpp"
#include "ledger/group_table.hpp"
#include "ledger/transaction.hpp"

namespace tailrace {
namespace {

Ledger open_impatiently(const std::string& state_folder) {
  return Ledger::open(state_folder, [](std::chrono::milliseconds) { return false; });
}

}  // namespace

void note_failure(const std::string& state_folder, const Failure& failure) {
  const Ledger ledger = open_impatiently(state_folder);
  Database& database = ledger.database();
  Transaction transaction(database, Transaction::Kind::kWrite);
  database.prepare("INSERT INTO failures(group_id, batch, attempt, pid, what) VALUES(?, ?, ?, ?, ?)")
      .bind(find_or_add_group(database, failure.group), failure.batch, failure.attempt, failure.pid,
            failure.what)
      .run();
  transaction.commit();
}

void note_death(const std::string& state_folder, const Death& death) {
  const Ledger ledger = open_impatiently(state_folder);
  Database& database = ledger.database();
  Transaction transaction(database, Transaction::Kind::kWrite);
  database.prepare("INSERT INTO deaths(pid, role, ended, unix_time) VALUES(?, ?, ?, ?)")
      .bind(death.pid, death.role, death.ended, std::int64_t{std::time(nullptr)})
      .run();
  transaction.commit();
}

std::vector<Failure> failures_of(const std::string& state_folder, const std::string& group,
                                 std::uint64_t batch) {
  return failures_of(Ledger::open_to_read(state_folder), group, batch);
}

std::vector<Failure> failures_of(const Ledger& ledger, const std::string& group, std::uint64_t batch) {
  std::vector<Failure> failures;
  Database& database = ledger.database();
  const auto id = find_group(database, group);
  if (!id) return failures;
  Statement rows = database.prepare(
      "SELECT attempt, pid, what, (SELECT ended FROM deaths WHERE deaths.pid = failures.pid ORDER BY id DESC "
      "LIMIT 1)"
      " FROM failures WHERE group_id = ? AND batch = ? ORDER BY id");
  rows.bind(*id, batch);
  while (rows.step()) {
    Failure failure{group, batch, static_cast<std::uint32_t>(rows.count(0)), rows.integer(1),
                    std::string(rows.text(2))};
    if (failure.what == "died" && !rows.is_null(3)) failure.what = rows.text(3);
    failures.push_back(std::move(failure));
  }
  return failures;
}

}  // namespace tailrace
