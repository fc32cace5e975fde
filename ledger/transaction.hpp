#pragma once

namespace tailrace {

class Database;

/// All or nothing: what is not committed is rolled back by the destructor, after which the connection can be
/// used again.
class Transaction {
 public:
  enum class Kind {
    kRead,  // everything is read as of one moment
    kWrite  // takes the write lock at once, so that it never fails in the middle for want of it
  };

  Transaction(Database& database, Kind kind);
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();

  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace tailrace
