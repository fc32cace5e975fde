#include "ledger/transaction.hpp"

#include "files/storage_time.hpp"
#include "ledger/database.hpp"
#include "ledger/ledger.hpp"

namespace tailrace {

Transaction::Transaction(Database& database, Kind kind) : database_(database) {
  const StorageWait wait;  // for the lock of whoever is committing
  database.run(kind == Kind::kWrite ? "BEGIN IMMEDIATE" : "BEGIN");
  if (kind == Kind::kRead || !database.has_moved()) return;
  database.roll_back();
  throw LedgerLost(database.path());  // rows that go into a file without a name would be lost
}

Transaction::~Transaction() {
  if (open_) database_.roll_back();
}

void Transaction::commit() {
  const StorageWait wait;
  database_.run("COMMIT");
  open_ = false;
}

}  // namespace tailrace
