#include "tests/ledger/support.hpp"

#include "ledger/database.hpp"

namespace tailrace::testing {

std::string query(const std::string& state_folder, const std::string& sql) {
  const Ledger ledger = Ledger::open_to_read(state_folder);
  Statement statement = ledger.database().prepare(sql);
  return statement.step() ? std::string(statement.text(0)) : "no row";
}

}  // namespace tailrace::testing
