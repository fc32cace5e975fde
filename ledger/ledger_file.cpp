#include "ledger/ledger_file.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "ledger/ledger.hpp"

namespace tailrace {

std::optional<LedgerFile> LedgerFile::find(const std::string& state_folder) {
  std::string path = ledger_path(state_folder);
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return std::nullopt;
  return LedgerFile(std::move(path), status.st_dev, status.st_ino);
}

bool LedgerFile::is_there() const noexcept {
  struct stat status {};
  if (::lstat(path_.c_str(), &status) != 0) return errno != ENOENT && errno != ENOTDIR;
  return status.st_dev == device_ && status.st_ino == inode_;
}

}  // namespace tailrace
