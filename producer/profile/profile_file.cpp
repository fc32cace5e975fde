#include "producer/profile/profile_file.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

namespace tailrace {
namespace {

/// Where a file is to be, and the key of the configuration that says so.
struct Place {
  const std::filesystem::path& path;
  const std::string& key;
};

[[noreturn]] void refuse(const Place& place, std::string_view why) {
  throw std::invalid_argument("cannot write " + place.path.string() + ": " + std::string(why) +
                              "; choose another " + place.key);
}

[[noreturn]] void fail(int error, const Place& place) {
  throw std::system_error(error, std::generic_category(),
                          "cannot write " + place.path.string() + " (" + place.key + ")");
}

UniqueFd open_folder(const Place& place) {
  const std::filesystem::path folder = place.path.has_parent_path() ? place.path.parent_path() : ".";
  UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd) return fd;
  if (errno == ENOENT) refuse(place, "there is no folder " + folder.string());
  if (errno == ENOTDIR) refuse(place, folder.string() + " is no folder");
  if (errno == ENAMETOOLONG) refuse(place, "the path is too long");
  fail(errno, place);
}

void check_name(int folder, const Place& place) {
  if (!place.path.has_filename()) refuse(place, "it names no file");
  struct stat status {};
  if (::fstatat(folder, place.path.filename().c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
    if (!S_ISREG(status.st_mode)) refuse(place, "something that is no regular file has that name");
  } else if (errno == ENAMETOOLONG) {
    refuse(place, "the name is too long");
  } else if (errno != ENOENT) {
    fail(errno, place);
  }
}

/// A folder inside `parent` with an unlikely name, gone at the end with all that is in it.
class ScratchFolder {
 public:
  ScratchFolder(int parent, const Place& purpose)
      : name_("/proc/self/fd/" + std::to_string(parent) + "/.tailrace-profile-XXXXXX") {
    if (::mkdtemp(name_.data()) == nullptr) fail(errno, purpose);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(name_, ignored);
  }

  [[nodiscard]] std::string file() const { return name_ + "/file.json"; }

 private:
  std::string name_;
};

std::uint64_t free_bytes(int folder) {
  struct statvfs status {};
  return ::fstatvfs(folder, &status) == 0 ? std::uint64_t{status.f_bavail} * status.f_frsize : 0;
}

/// A JSON object ends with a brace, so a cut-off one does not.
bool is_whole(int file, off_t size) {
  std::array<char, 16> tail{};
  const off_t begin = size > static_cast<off_t>(tail.size()) ? size - static_cast<off_t>(tail.size()) : 0;
  const ssize_t count = ::pread(file, tail.data(), tail.size(), begin);
  const std::string_view text(tail.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
  const std::size_t last = text.find_last_not_of(" \n");
  return last != std::string_view::npos && text[last] == '}';
}

}  // namespace

ProfileFile::ProfileFile(std::filesystem::path path, std::string key)
    : path_(std::move(path)), key_(std::move(key)), folder_(open_folder({path_, key_})) {
  check_name(folder_.get(), {path_, key_});
  if (::faccessat(folder_.get(), ".", W_OK | X_OK, AT_EACCESS) != 0) fail(errno, {path_, key_});
}

void ProfileFile::write(const std::function<void(const std::string& name)>& fill) const {
  const Place place{path_, key_};
  const ScratchFolder scratch(folder_.get(), place);
  fill(scratch.file());
  const UniqueFd file(::open(scratch.file().c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0 || !is_whole(file.get(), status.st_size))
    throw std::system_error(EIO, std::generic_category(),
                            path_.string() + " was cut off after " + std::to_string(status.st_size) +
                                " bytes, where " + std::to_string(free_bytes(folder_.get())) +
                                " bytes are free; make room or choose another " + key_);
  if (::fsync(file.get()) != 0) fail(errno, place);
  if (::renameat(AT_FDCWD, scratch.file().c_str(), folder_.get(), path_.filename().c_str()) != 0)
    fail(errno, place);
  if (::fsync(folder_.get()) != 0) fail(errno, place);
}

}  // namespace tailrace
