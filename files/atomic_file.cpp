#include "files/atomic_file.hpp"

#include <unistd.h>

#include <cerrno>

#include "files/storage_time.hpp"
#include "os/failpoint.hpp"
#include "os/io_error.hpp"

namespace tailrace {
namespace {

constexpr std::size_t kMaxOpenFiles = 128;

void sync(const Folder& folder) {
  const StorageWait wait;
  while (::fsync(folder.fd.get()) != 0)
    if (errno != EINTR) throw_io_error(errno, "make durable the folder", folder.path, folder.fd.get());
}

}  // namespace

TemporaryFile& AtomicFiles::create(std::string_view name) {
  if (pending_.size() >= kMaxOpenFiles) commit();
  const std::size_t slash = name.rfind('/');
  const bool in_root = slash == std::string_view::npos;
  const std::string_view folder_name = in_root ? std::string_view{} : name.substr(0, slash);
  auto folder = folders_.find(folder_name);
  if (folder == folders_.end())
    folder = folders_.emplace(std::string(folder_name), root_.open(folder_name)).first;
  pending_.push_back(
      {TemporaryFile(folder->second, path_of(name)), std::string(in_root ? name : name.substr(slash + 1))});
  return pending_.back().file;
}

void AtomicFiles::commit() {
  // Started together, the writes of the whole group are under way when the first fsync waits.
  for (Pending& pending : pending_) pending.file.start_writeback();
  for (Pending& pending : pending_) pending.file.sync();
  for (Pending& pending : pending_) {
    failpoint("before_rename");
    pending.file.rename_to(pending.leaf);
  }
  for (const auto& [name, folder] : folders_) sync(*folder);
  pending_.clear();
  folders_.clear();
}

std::string AtomicFiles::path_of(std::string_view name) const {
  return root_.path() + "/" + std::string(name);
}

}  // namespace tailrace
