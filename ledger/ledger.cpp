#include "ledger/ledger.hpp"

#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "files/io_error.hpp"
#include "ledger/database.hpp"
#include "ledger/network_file_system.hpp"
#include "ledger/schema.hpp"

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
  if (error) throw LedgerError(error.value(), "cannot make the state folder " + tailrace::quoted(folder));
}

/// A name that is not a file yet. Not by open(2): to close the descriptor would end the locks that another
/// connection of this process has on the file.
void make_file(const std::string& path) {
  if (::mknod(path.c_str(), S_IFREG | kFileMode, 0) != 0 && errno != EEXIST)
    throw LedgerError(errno, "cannot make the ledger " + tailrace::quoted(path));
}

void refuse_network_file_system(const std::string& folder) {
  struct statfs system {};
  if (::statfs(folder.c_str(), &system) != 0)
    throw LedgerError(errno, "cannot examine the state folder " + tailrace::quoted(folder));
  if (const char* const name = network_file_system(system.f_type))
    throw LedgerError(EOPNOTSUPP, "the state folder " + tailrace::quoted(folder) + " is on " + name +
                                      "; the ledger needs a file system of this machine: set pipeline.state");
}

/// The folder may be reached through symbolic links, which are the user's choice; the file itself not. An
/// absolute path also keeps SQLite from taking a name for a URI.
std::string resolve(const std::string& folder) {
  if (folder.find('\0') != std::string::npos)
    throw LedgerError(EINVAL,
                      "the name of the state folder " + tailrace::quoted(folder) + " holds a zero byte");
  std::error_code error;
  const fs::path resolved = fs::canonical(folder, error);
  if (error) throw LedgerError(error.value(), "cannot open the state folder " + tailrace::quoted(folder));
  std::string path = ledger_path(resolved.native());
  if (path.size() > kMaxPathBytes)
    throw LedgerError(ENAMETOOLONG, "the state folder " + tailrace::quoted(folder) +
                                        " has a path of more than " + std::to_string(kMaxPathBytes) +
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

}  // namespace

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
  return Ledger(connect(resolve(state_folder), Database::Access::kRead, std::move(keep_waiting)));
}

std::string ledger_path(const std::string& state_folder) { return state_folder + "/ledger.sqlite"; }

}  // namespace tailrace
