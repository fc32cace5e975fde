#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <system_error>

#include "os/io_error.hpp"

namespace tailrace {

class Database;

/// The ledger cannot be read or written: a FileError, for whoever can wait and try again. `code()` is an
/// errno of the generic category (ENOSPC for a full disk, EROFS, EACCES, EIO, EBUSY, EBADMSG for a damaged
/// file, …); the message names the file and what SQLite says.
class LedgerError : public FileError {
 public:
  LedgerError(int code, const std::string& message) : FileError(code, std::generic_category(), message) {}
};

/// The file that is open is the ledger no more: somebody removed or replaced it. Waiting does not help.
class LedgerLost : public LedgerError {
 public:
  explicit LedgerLost(const std::string& path);
};

/// A connection to a pipeline's ledger: STATE/ledger.sqlite, a SQLite database in WAL mode that all processes
/// of the pipeline share. One thread at a time; not to be used across a fork.
///
/// What was committed survives the death of any process. When the machine loses power, the last rows may be
/// lost (never half of a transaction): their items are then done again.
class Ledger {
 public:
  /// Asked about once a second while another process holds the write lock; false = give up (LedgerError,
  /// EBUSY). Empty: waits for as long as it takes.
  using KeepWaiting = std::function<bool(std::chrono::milliseconds waited)>;

  /// Makes folder and file (mode 0660 less the umask) where they are missing. Throws LedgerError, also where
  /// the folder is on a network file system (EOPNOTSUPP: no shared memory between its users), the file is a
  /// symbolic link (ELOOP), no ledger or one of another version (EBADMSG), or cannot be written (EACCES,
  /// EROFS). Has the process ignore SIGXFSZ, so that a file size limit comes as an error.
  static Ledger create(const std::string& state_folder, KeepWaiting keep_waiting = {});
  /// The same, but ENOENT where there is none.
  static Ledger open(const std::string& state_folder, KeepWaiting keep_waiting = {});
  /// The same for those who may not write the ledger, or do not want to; also where the folder is read-only
  /// and nobody has the ledger open.
  static Ledger open_to_read(const std::string& state_folder, KeepWaiting keep_waiting = {});

  Ledger(Ledger&&) noexcept;
  Ledger& operator=(Ledger&&) noexcept;
  ~Ledger();

  [[nodiscard]] Database& database() const noexcept { return *database_; }

 private:
  explicit Ledger(std::unique_ptr<Database> database);

  std::unique_ptr<Database> database_;
};

/// STATE/ledger.sqlite
std::string ledger_path(const std::string& state_folder);

}  // namespace tailrace
