#include "ledger/ledger.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "ledger/database.hpp"
#include "ledger/network_file_system.hpp"
#include "ledger/schema.hpp"
#include "os/io_error.hpp"

namespace tailrace {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kFileMode = 0660;  // less the umask
// SQLite's limit for a path is 512 bytes, with what it appends for the log.
constexpr std::size_t kMaxPathBytes = 500;
// Of the log, after which a commit moves its rows into the file; some thousand rows.
constexpr int kCheckpointPages = 2000;
constexpr int kKeptLogBytes = 64 << 20;

void make_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw LedgerError(error.value(), "cannot make the state folder " + in_quotes(folder));
}

/// A name that is not a file yet. Not by open(2): to close the descriptor would end the locks that another
/// connection of this process has on the file.
void make_file(const std::string& path) {
  if (::mknod(path.c_str(), S_IFREG | kFileMode, 0) != 0 && errno != EEXIST)
    throw LedgerError(errno, "cannot make the ledger " + in_quotes(path));
}

void refuse_network_file_system(const std::string& folder) {
  struct statfs system {};
  if (::statfs(folder.c_str(), &system) != 0)
    throw LedgerError(errno, "cannot examine the state folder " + in_quotes(folder));
  if (const char* const name = network_file_system(system.f_type))
    throw LedgerError(EOPNOTSUPP, "the state folder " + in_quotes(folder) + " is on " + name +
                                      "; the ledger needs a file system of this machine: set pipeline.state");
}

/// The folder may be reached through symbolic links, which are the user's choice; the file itself not. An
/// absolute path also keeps SQLite from taking a name for a URI.
std::string resolve(const std::string& folder) {
  if (folder.find('\0') != std::string::npos)
    throw LedgerError(EINVAL, "the name of the state folder " + in_quotes(folder) + " holds a zero byte");
  std::error_code error;
  const fs::path resolved = fs::canonical(folder, error);
  if (error) throw LedgerError(error.value(), "cannot open the state folder " + in_quotes(folder));
  std::string path = ledger_path(resolved.native());
  if (path.size() > kMaxPathBytes)
    throw LedgerError(ENAMETOOLONG, "the state folder " + in_quotes(folder) + " has a path of more than " +
                                        std::to_string(kMaxPathBytes) +
                                        " bytes; set pipeline.state to a shorter one");
  refuse_network_file_system(resolved.native());
  return path;
}

std::unique_ptr<Database> connect(const std::string& path, Database::Access access,
                                  Ledger::KeepWaiting keep_waiting) {
  auto database = std::make_unique<Database>(path, access, std::move(keep_waiting));
  ensure_schema(*database, access);
  database->run("PRAGMA synchronous = NORMAL");
  database->run("PRAGMA wal_autocheckpoint = " + std::to_string(kCheckpointPages));
  database->run("PRAGMA journal_size_limit = " + std::to_string(kKeptLogBytes));
  return database;
}

/// SQLite would make files beside it even to read it, which not everybody may.
Database::Access access_to_read(const std::string& path) {
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  struct stat log {};
  const bool has_log = ::stat((path + "-wal").c_str(), &log) == 0 && log.st_size != 0;
  const bool may_write = ::faccessat(AT_FDCWD, folder.c_str(), W_OK, AT_EACCESS) == 0;
  return has_log || may_write ? Database::Access::kRead : Database::Access::kReadAtRest;
}

}  // namespace

LedgerLost::LedgerLost(const std::string& path)
    : LedgerError(ENOENT, "the ledger " + in_quotes(path) +
                              " was removed or replaced while it was in use: put it back, or run `tailrace "
                              "clean` to begin anew, then start the pipeline again") {}

Ledger::Ledger(std::unique_ptr<Database> database) : database_(std::move(database)) {}
Ledger::Ledger(Ledger&&) noexcept = default;
Ledger& Ledger::operator=(Ledger&&) noexcept = default;
Ledger::~Ledger() = default;

Ledger Ledger::create(const std::string& state_folder, KeepWaiting keep_waiting) {
  make_folder(state_folder);
  const std::string path = resolve(state_folder);
  make_file(path);
  return Ledger(connect(path, Database::Access::kWrite, std::move(keep_waiting)));
}

Ledger Ledger::open(const std::string& state_folder, KeepWaiting keep_waiting) {
  return Ledger(connect(resolve(state_folder), Database::Access::kWrite, std::move(keep_waiting)));
}

Ledger Ledger::open_to_read(const std::string& state_folder, KeepWaiting keep_waiting) {
  const std::string path = resolve(state_folder);
  return Ledger(connect(path, access_to_read(path), std::move(keep_waiting)));
}

std::string ledger_path(const std::string& state_folder) { return state_folder + "/ledger.sqlite"; }

}  // namespace tailrace
