#include "files/output_folder.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

#include "files/storage_time.hpp"
#include "files/temporary_file.hpp"
#include "os/io_error.hpp"

namespace tailrace {
namespace {

constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
constexpr mode_t kFolderMode = 0777;  // less the umask

/// Creates `path` with its parents; each new name is made durable in its parent.
UniqueFd open_root(const std::filesystem::path& path) {
  std::filesystem::path prefix;
  UniqueFd parent;
  for (const auto& component : path) {
    prefix /= component;
    const bool made = ::mkdir(prefix.c_str(), kFolderMode) == 0;
    if (!made && errno != EEXIST && errno != EROFS && errno != EACCES)
      throw_io_error(errno, "create the folder", prefix.native(), parent.get());
    const int mkdir_error = made ? 0 : errno;
    UniqueFd folder(::open(prefix.c_str(), kFolderFlags | O_PATH));
    if (!folder && mkdir_error != EEXIST && errno == ENOENT)
      throw_io_error(mkdir_error, "create the folder", prefix.native(), parent.get());
    if (!folder) throw_io_error(errno, "open the folder", prefix.native(), parent.get());
    if (made && parent) {
      const UniqueFd durable(::openat(parent.get(), ".", kFolderFlags));
      if (!durable || ::fsync(durable.get()) != 0)
        throw_io_error(errno, "make durable the folder", prefix.native(), parent.get());
    }
    parent = std::move(folder);
  }
  UniqueFd root(::openat(parent.get(), ".", kFolderFlags));
  if (!root) throw_io_error(errno, "open the folder", path.native(), parent.get());
  return root;
}

bool is_symbolic_link(const Folder& parent, const std::string& name) {
  struct stat status {};
  return ::fstatat(parent.fd.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISLNK(status.st_mode);
}

/// Writes and removes a temporary file, so that what is wrong with the folder shows before anything is
/// leased. That it has no room at this moment is no fault of its own: who writes a batch waits for room, and
/// a process that ended instead would be started again so often that its service manager gave it up.
void probe(const std::shared_ptr<const Folder>& folder) {
  try {
    TemporaryFile file(folder);
    const std::byte byte{};
    file.append({&byte, 1});
    file.sync();
  } catch (const FileError& error) {
    if (error.code().value() != ENOSPC && error.code().value() != EDQUOT) throw;
  }
}

}  // namespace

OutputFolder::OutputFolder(const std::string& path) {
  const std::filesystem::path absolute = std::filesystem::absolute(path).lexically_normal();
  auto root = std::make_shared<Folder>();
  root->fd = open_root(absolute);
  root->path = absolute.native();
  while (root->path.size() > 1 && root->path.back() == '/') root->path.pop_back();
  root_ = std::move(root);
  remove_dead_temporary_files(*root_);
  probe(root_);
}

std::shared_ptr<const Folder> OutputFolder::open(std::string_view relative) {
  auto folder = root_;
  for (std::size_t begin = 0; begin < relative.size();) {
    const std::size_t end = std::min(relative.find('/', begin), relative.size());
    const bool first_time = seen_.emplace(relative.substr(0, end)).second;
    try {
      folder = open_child(*folder, std::string(relative.substr(begin, end - begin)), first_time);
    } catch (...) {
      if (first_time) seen_.erase(std::string(relative.substr(0, end)));
      throw;
    }
    begin = end + 1;
  }
  return folder;
}

std::shared_ptr<const Folder> OutputFolder::open_child(const Folder& parent, const std::string& name,
                                                       bool first_time) {
  const StorageWait wait;
  auto child = std::make_shared<Folder>();
  child->path = parent.path + "/" + name;
  const auto try_open = [&] {
    child->fd = UniqueFd(::openat(parent.fd.get(), name.c_str(), kFolderFlags | O_NOFOLLOW));
    return static_cast<bool>(child->fd);
  };
  bool made = false;
  if (!try_open() && errno == ENOENT) {
    made = ::mkdirat(parent.fd.get(), name.c_str(), kFolderMode) == 0;
    if (!made && errno != EEXIST) throw_io_error(errno, "create the folder", child->path, parent.fd.get());
    (void)try_open();
  }
  if (!child->fd) {
    const int error = errno;
    if (is_symbolic_link(parent, name))
      throw_io_error(ELOOP, "use the folder (a symbolic link is in its place, and is not followed)",
                     child->path);
    throw_io_error(error, "open the folder", child->path, parent.fd.get());
  }
  // Another process may have made the folder a moment ago, and not durable yet: so at the first sight always.
  if ((made || first_time) && ::fsync(parent.fd.get()) != 0)
    throw_io_error(errno, "make durable the folder", child->path, parent.fd.get());
  if (first_time) remove_dead_temporary_files(*child);
  return child;
}

}  // namespace tailrace
