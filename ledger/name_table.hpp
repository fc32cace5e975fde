#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "ledger/database.hpp"
#include "ledger/name_list.hpp"

namespace tailrace {

/// Replaces the names of the job's items; `name_at` is asked for every position below `count`, in order. In
/// the caller's transaction.
void store_names(Database& database, std::uint64_t count,
                 const std::function<std::string(std::uint64_t position)>& name_at);

/// Reads the names again, one chunk at a time. Positions in ascending order are fast. What it reads belongs
/// together in a transaction only.
class NameTable {
 public:
  explicit NameTable(Database& database)
      : database_(database), has_names_(database.integer("SELECT EXISTS(SELECT 1 FROM names)") != 0) {}

  /// False: the job's items have no names.
  [[nodiscard]] bool has_names() const noexcept { return has_names_; }
  /// Name of the item at a position of the job; holds until the next call. Empty in a job without names.
  /// LedgerError (EBADMSG) where it is missing.
  [[nodiscard]] std::string_view at(std::uint64_t position);

 private:
  void load(std::uint64_t first_position);

  Database& database_;
  bool has_names_;
  NameList chunk_;
  std::uint64_t first_position_ = 0;
};

}  // namespace tailrace
