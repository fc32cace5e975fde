#include "ledger/database.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <limits>
#include <utility>

#include "ledger/ledger.hpp"
#include "ledger/patience.hpp"
#include "os/io_error.hpp"

namespace tailrace {
namespace {

using std::chrono::milliseconds;

constexpr int kPrimaryCode = 0xff;  // the rest of an extended result code says more

/// Why a file, or the log beside it, cannot be written; SQLite only says that it is so.
int errno_of_read_only(const std::string& path) {
  for (const std::string& needed : {path, path.substr(0, path.rfind('/') + 1)})
    if (::faccessat(AT_FDCWD, needed.c_str(), W_OK, AT_EACCESS) != 0) return errno;
  return EROFS;
}

/// The errno behind an I/O error: of the files first, for SQLite forgets it where a COMMIT fails.
int errno_of_io(sqlite3* connection) {
  int code = 0;
  sqlite3_file* log = nullptr;
  sqlite3_file_control(connection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  if (log != nullptr && log->pMethods != nullptr)
    log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &code);
  if (code == 0) sqlite3_file_control(connection, "main", SQLITE_FCNTL_LAST_ERRNO, &code);
  return code != 0 ? code : sqlite3_system_errno(connection);
}

/// 0 where the system had no part in it. Only there SQLite's figure is not one of an earlier error.
int system_errno_of(sqlite3* connection, int result) {
  switch (result & kPrimaryCode) {
    case SQLITE_IOERR:
      return errno_of_io(connection);
    case SQLITE_CANTOPEN:
      return sqlite3_system_errno(connection);
    default:
      return 0;
  }
}

int errno_of(int result, int system_errno, const std::string& path) {
  switch (result) {
    case SQLITE_READONLY_DBMOVED:
      return ENOENT;
    case SQLITE_CANTOPEN_SYMLINK:
      return ELOOP;
    case SQLITE_IOERR_NOMEM:
      return ENOMEM;
    default:
      break;
  }
  switch (result & kPrimaryCode) {
    case SQLITE_FULL:
      return ENOSPC;
    case SQLITE_READONLY:
      return errno_of_read_only(path);
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return EACCES;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      return EBUSY;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT:
      return EBADMSG;
    case SQLITE_NOMEM:
      return ENOMEM;
    default:
      return system_errno != 0 ? system_errno : EIO;
  }
}

/// The path as a URI; immutable=1: no lock, no log, no memory shared with others.
std::string uri_at_rest(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) uri += c == '%' ? "%25" : c == '?' ? "%3f" : c == '#' ? "%23" : std::string(1, c);
  return uri + "?immutable=1";
}

const char* remedy(int code) {
  switch (code) {
    case EBADMSG:
      return "; the file is damaged or no ledger: put a copy in its place, or remove the folder to begin "
             "anew";
    case ELOOP:
      return "; symbolic links are not followed here: put the file itself in its place";
    case EROFS:
    case EACCES:
      return "; every process of the pipeline must be able to write the file and its folder";
    default:
      return "";
  }
}

}  // namespace

void Database::Close::operator()(sqlite3* connection) const noexcept { sqlite3_close_v2(connection); }
void Database::Finalize::operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }

Database::Database(std::string path, Access access, KeepWaiting keep_waiting)
    : path_(std::move(path)), keep_waiting_(std::move(keep_waiting)) {
  std::signal(SIGXFSZ, SIG_IGN);
  // A reader, too, opens for writing where it may: the last one to close removes the log only then, and a log
  // that one user leaves behind may be closed to others.
  constexpr int kFlags = SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  sqlite3* connection = nullptr;
  const int result =
      access == Access::kReadAtRest
          ? sqlite3_open_v2(uri_at_rest(path_).c_str(), &connection,
                            kFlags | SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr)
          : sqlite3_open_v2(path_.c_str(), &connection, kFlags | SQLITE_OPEN_READWRITE, nullptr);
  connection_.reset(connection);
  if (result != SQLITE_OK) fail(result);
  if (access != Access::kWrite)
    run("PRAGMA query_only = ON");
  else if (sqlite3_db_readonly(connection, "main") != 0)
    fail(SQLITE_READONLY);
}

Database::~Database() = default;

Statement Database::prepare(std::string_view sql) {
  auto home = idle_.find(sql);
  if (home == idle_.end()) home = idle_.emplace(sql, nullptr).first;
  StatementPtr statement = std::move(home->second);
  for (Patience patience(keep_waiting_); !statement;) {
    sqlite3_stmt* prepared = nullptr;
    const int result =
        sqlite3_prepare_v2(connection_.get(), sql.data(), static_cast<int>(sql.size()), &prepared, nullptr);
    statement.reset(prepared);
    if (result == SQLITE_OK) break;
    if (!may_try_again(result)) fail(result);
    if (!patience.wait()) give_up(patience.waited());
  }
  return {*this, home->second, std::move(statement)};
}

void Database::run(std::string_view sql) { prepare(sql).run(); }

std::int64_t Database::integer(std::string_view sql) {
  Statement statement = prepare(sql);
  if (!statement.step()) fail(SQLITE_CORRUPT);
  return statement.integer(0);
}

void Database::fail(int result) const {
  sqlite3* const connection = connection_.get();
  // The connection speaks of its last call; the result may have been found by other means.
  const bool is_last = connection != nullptr && sqlite3_extended_errcode(connection) == result;
  const int code = errno_of(result, is_last ? system_errno_of(connection, result) : 0, path_);
  throw LedgerError(code, "the ledger " + in_quotes(path_) + ": " +
                              (is_last ? sqlite3_errmsg(connection) : sqlite3_errstr(result)) + remedy(code));
}

void Database::give_up(milliseconds waited) const {
  throw LedgerError(EBUSY, "the ledger " + in_quotes(path_) + ": another process has held its lock for " +
                               std::to_string(waited.count()) + " ms; is one of the pipeline stopped?");
}

/// Nothing of the statement has happened: the lock is somebody else's, and no snapshot is held that would
/// have to be given up first.
bool Database::may_try_again(int result) const noexcept {
  const int primary = result & kPrimaryCode;
  return (primary == SQLITE_BUSY || primary == SQLITE_PROTOCOL) &&
         sqlite3_txn_state(connection_.get(), "main") == SQLITE_TXN_NONE;
}

bool Database::has_moved() const noexcept {
  int moved = 0;
  sqlite3_file_control(connection_.get(), "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  return moved != 0;
}

void Database::roll_back() noexcept {
  if (sqlite3_get_autocommit(connection_.get()) == 0)
    sqlite3_exec(connection_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
}

Statement::~Statement() {
  if (!statement_) return;
  restart();
  sqlite3_clear_bindings(statement_.get());
  if (!*home_) *home_ = std::move(statement_);
}

bool Statement::step() {
  for (Patience patience(database_->keep_waiting_);;) {
    const int result = sqlite3_step(statement_.get());
    if (result == SQLITE_ROW) return true;
    if (result == SQLITE_DONE) return false;
    const bool busy = (result & kPrimaryCode) == SQLITE_BUSY || (result & kPrimaryCode) == SQLITE_PROTOCOL;
    if (!busy) database_->fail(result);
    restart();
    if (!database_->may_try_again(result)) database_->fail(result);
    if (!patience.wait()) database_->give_up(patience.waited());
  }
}

void Statement::run() {
  while (step()) {
  }
  restart();
}

bool Statement::is_null(int column) const noexcept {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

std::int64_t Statement::integer(int column) const noexcept {
  return sqlite3_column_int64(statement_.get(), column);
}

std::uint64_t Statement::count(int column) const {
  const std::int64_t value = integer(column);
  if (value < 0) database_->fail(SQLITE_CORRUPT);
  return static_cast<std::uint64_t>(value);
}

std::string_view Statement::text(int column) const noexcept {
  // Blob rather than text: SQLite then adds no terminator, which would copy.
  const void* const bytes = sqlite3_column_blob(statement_.get(), column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
  return {static_cast<const char*>(bytes), bytes == nullptr ? 0 : size};
}

/// The error of a former execution was reported when it happened.
void Statement::restart() noexcept { (void)sqlite3_reset(statement_.get()); }

void Statement::check(int result) const {
  if (result != SQLITE_OK) database_->fail(result);
}

void Statement::set(int index, std::int64_t value) {
  check(sqlite3_bind_int64(statement_.get(), index, value));
}

void Statement::set(int index, std::uint64_t value) {
  if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    throw LedgerError(EOVERFLOW, "the ledger " + in_quotes(database_->path()) +
                                     " holds numbers up to 2^63 - 1, not " + std::to_string(value));
  set(index, static_cast<std::int64_t>(value));
}

void Statement::set(int index, std::string_view text) {
  check(sqlite3_bind_text64(statement_.get(), index, text.data() == nullptr ? "" : text.data(), text.size(),
                            SQLITE_TRANSIENT,  // NOLINT(performance-no-int-to-ptr)
                            SQLITE_UTF8));
}

void Statement::set(int index, Blob blob) {
  check(sqlite3_bind_blob64(statement_.get(), index, blob.bytes.data() == nullptr ? "" : blob.bytes.data(),
                            blob.bytes.size(), SQLITE_TRANSIENT));  // NOLINT(performance-no-int-to-ptr)
}

void Statement::set_null(int index) { check(sqlite3_bind_null(statement_.get(), index)); }

}  // namespace tailrace
