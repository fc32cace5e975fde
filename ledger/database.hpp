#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace tailrace {

class Statement;

/// A connection to a SQLite database, the only place that knows SQLite's C API. One thread at a time; not to
/// be used across a fork. Everything throws LedgerError. While another connection holds a lock that is
/// needed, calls wait: see KeepWaiting.
class Database {
 public:
  enum class Access {
    kRead,
    kReadAtRest,  // nobody has it open or will while it is read: nothing beside the file is needed
    kWrite
  };
  using KeepWaiting = std::function<bool(std::chrono::milliseconds waited)>;

  /// Opens a file that is there; an empty one is an empty database. `path`: absolute, without symbolic links.
  /// `keep_waiting` is asked about once a second while another process holds a lock; false = give up (EBUSY);
  /// empty = wait for as long as it takes. Has the process ignore SIGXFSZ, so that a file size limit comes as
  /// an error.
  Database(std::string path, Access access, KeepWaiting keep_waiting);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  /// A statement that is kept for its next use: prepared once per connection and text.
  [[nodiscard]] Statement prepare(std::string_view sql);
  /// A statement without parameters; its rows are dropped.
  void run(std::string_view sql);
  /// First column of the first row of a statement without parameters, which must give one.
  [[nodiscard]] std::int64_t integer(std::string_view sql);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  friend class Statement;
  friend class Transaction;
  struct Close {
    void operator()(sqlite3* connection) const noexcept;
  };
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const noexcept;
  };
  using StatementPtr = std::unique_ptr<sqlite3_stmt, Finalize>;

  [[noreturn]] void fail(int result) const;
  [[noreturn]] void give_up(std::chrono::milliseconds waited) const;
  [[nodiscard]] bool may_try_again(int result) const noexcept;
  [[nodiscard]] bool has_moved() const noexcept;
  void roll_back() noexcept;

  std::string path_;
  KeepWaiting keep_waiting_;
  std::unique_ptr<sqlite3, Close> connection_;
  std::map<std::string, StatementPtr, std::less<>> idle_;
};

/// A 64-bit pattern (digest, checksum), which SQLite sees as a signed number.
struct Bits {
  std::uint64_t value;
};

/// Bytes that are no text.
struct Blob {
  std::string_view bytes;
};

/// One use of a prepared statement; goes back to its connection, and must end before that does.
class Statement {
 public:
  Statement(Statement&& other) noexcept = default;
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  /// Sets all parameters, in order, for a new execution. Values are copied; nullopt is NULL. Numbers above
  /// 2^63 - 1 are refused (EOVERFLOW).
  template <typename... Values>
  Statement& bind(const Values&... values) {
    restart();
    int index = 0;
    (set(++index, values), ...);
    return *this;
  }

  /// Goes to the next row. False: there is none, the statement has done its work.
  [[nodiscard]] bool step();
  /// To the end, for statements without rows.
  void run();

  // Columns of the present row, counted from 0. Views hold until the next call of any other function.
  [[nodiscard]] bool is_null(int column) const noexcept;
  [[nodiscard]] std::int64_t integer(int column) const noexcept;
  /// Not negative, or LedgerError (EBADMSG).
  [[nodiscard]] std::uint64_t count(int column) const;
  [[nodiscard]] std::uint64_t bits(int column) const noexcept {
    return static_cast<std::uint64_t>(integer(column));
  }
  [[nodiscard]] std::string_view text(int column) const noexcept;

 private:
  friend class Database;
  Statement(Database& database, Database::StatementPtr& home, Database::StatementPtr statement) noexcept
      : database_(&database), home_(&home), statement_(std::move(statement)) {}

  void restart() noexcept;
  void check(int result) const;
  void set(int index, std::int64_t value);
  void set(int index, std::uint64_t value);
  void set(int index, int value) { set(index, std::int64_t{value}); }
  void set(int index, std::uint32_t value) { set(index, std::int64_t{value}); }
  void set(int index, bool value) { set(index, std::int64_t{value}); }
  void set(int index, Bits value) { set(index, static_cast<std::int64_t>(value.value)); }
  void set(int index, std::string_view text);
  void set(int index, const std::string& text) { set(index, std::string_view(text)); }
  void set(int index, Blob blob);
  template <typename Value>
  void set(int index, const std::optional<Value>& value) {
    if (value)
      set(index, *value);
    else
      set_null(index);
  }
  void set_null(int index);

  Database* database_;
  Database::StatementPtr* home_;
  Database::StatementPtr statement_;
};

}  // namespace tailrace
