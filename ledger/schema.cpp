#include "ledger/schema.hpp"

#include <array>
#include <cerrno>
#include <string>

#include "ledger/ledger.hpp"
#include "ledger/transaction.hpp"
#include "os/io_error.hpp"

namespace tailrace {

constexpr std::string_view kCreateItems =
    "CREATE TABLE items(group_id INTEGER NOT NULL, item INTEGER NOT NULL, state INTEGER NOT NULL,"
    " batch INTEGER NOT NULL, row INTEGER NOT NULL, files TEXT, bytes INTEGER NOT NULL, checksum INTEGER,"
    " attempts INTEGER NOT NULL, reason TEXT, PRIMARY KEY(group_id, item)) WITHOUT ROWID";

namespace {

constexpr std::int64_t kApplicationId = 0x54724c67;  // "TrLg"

constexpr std::array kCreateOthers{
    std::string_view(
        "CREATE TABLE job(id INTEGER PRIMARY KEY CHECK(id = 1), pipeline TEXT NOT NULL,"
        " list_digest INTEGER NOT NULL, model_digest INTEGER, item_count INTEGER NOT NULL,"
        " batch_size INTEGER NOT NULL, shard_index INTEGER NOT NULL, shard_count INTEGER NOT NULL,"
        " complete INTEGER NOT NULL, fixed_batches INTEGER NOT NULL, ledger_id INTEGER NOT NULL)"),
    std::string_view("CREATE TABLE names(first_position INTEGER PRIMARY KEY, names BLOB NOT NULL)"),
    std::string_view("CREATE TABLE groups(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)"),
    std::string_view(
        "CREATE TABLE trials(group_id INTEGER NOT NULL, item INTEGER NOT NULL, begun INTEGER NOT NULL,"
        " PRIMARY KEY(group_id, item)) WITHOUT ROWID"),
    std::string_view(
        "CREATE TABLE failures(id INTEGER PRIMARY KEY, group_id INTEGER NOT NULL,"
        " batch INTEGER NOT NULL, attempt INTEGER NOT NULL, pid INTEGER NOT NULL, what TEXT NOT NULL)"),
    std::string_view("CREATE TABLE deaths(id INTEGER PRIMARY KEY, pid INTEGER NOT NULL, role TEXT NOT NULL,"
                     " ended TEXT NOT NULL, unix_time INTEGER NOT NULL)")};

// What came after the first ledgers of this version; whoever does not know them does without.
constexpr std::array kAddLater{
    std::string_view("CREATE TABLE IF NOT EXISTS sinks(group_id INTEGER PRIMARY KEY, sink TEXT)"),
    std::string_view("CREATE TABLE IF NOT EXISTS retries(id INTEGER PRIMARY KEY, group_id INTEGER NOT NULL,"
                     " items INTEGER NOT NULL, unix_time INTEGER NOT NULL)")};

enum class Content { kNothing, kLedger };

/// In a transaction, so that what is read belongs together.
Content content_of(Database& database) {
  const std::int64_t application = database.integer("PRAGMA application_id");
  const std::int64_t version = database.integer("PRAGMA user_version");
  if (application == kApplicationId && version == kLedgerVersion) return Content::kLedger;
  if (application == 0 && version == 0 && database.integer("SELECT count(*) FROM sqlite_schema") == 0)
    return Content::kNothing;
  const std::string found = application == kApplicationId
                                ? "is a ledger of version " + std::to_string(version) +
                                      ", this program reads " + std::to_string(kLedgerVersion)
                                : "is a database of another program";
  throw LedgerError(EBADMSG, in_quotes(database.path()) + " " + found +
                                 "; choose another pipeline.state, or move the file away to begin anew");
}

void create(Database& database) {
  database.run(kCreateItems);
  for (const std::string_view sql : kCreateOthers) database.run(sql);
  database.run("PRAGMA application_id = " + std::to_string(kApplicationId));
  database.run("PRAGMA user_version = " + std::to_string(kLedgerVersion));
}

Content read_content(Database& database) {
  Transaction transaction(database, Transaction::Kind::kRead);
  return content_of(database);
}

/// The mode is kept in the file; SQLite keeps quiet where it cannot have it.
void use_wal(Database& database) {
  Statement mode = database.prepare("PRAGMA journal_mode = WAL");
  if (!mode.step() || mode.text(0) != "wal")
    throw LedgerError(EIO, "the ledger " + in_quotes(database.path()) +
                               " cannot have a write-ahead log (journal_mode '" + std::string(mode.text(0)) +
                               "'); put pipeline.state on a local file system");
}

}  // namespace

void ensure_schema(Database& database, Database::Access access) {
  const Content content = read_content(database);
  if (access != Database::Access::kWrite) {
    if (content == Content::kLedger) return;
    throw LedgerError(ENOENT, "the ledger " + in_quotes(database.path()) + " is empty");
  }
  use_wal(database);
  if (content == Content::kNothing) {
    Transaction transaction(database, Transaction::Kind::kWrite);
    if (content_of(database) == Content::kNothing) create(database);
    transaction.commit();
  }
  for (const std::string_view sql : kAddLater) database.run(sql);
}

}  // namespace tailrace
