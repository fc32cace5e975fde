#include "tests/shm/mounted_folder.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tailrace::testing {
namespace {

bool have_own_namespace() {
  static const bool own =
      unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
  return own;
}

}  // namespace

MountedFolder::MountedFolder(const std::string& type, const std::string& options) {
  if (!have_own_namespace() || mount(type.c_str(), path().c_str(), type.c_str(), 0, options.c_str()) != 0)
    problem_ = "cannot mount a " + type + " with " + options + ": " + std::strerror(errno);
}

MountedFolder::~MountedFolder() {
  if (problem_.empty()) umount2(path().c_str(), MNT_DETACH);
}

void MountedFolder::fill() const {
  const UniqueFd fd(open((path() / "filler").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  const std::string page(4096, 'x');
  while (write(fd.get(), page.data(), page.size()) > 0) {
  }
}

std::uint64_t allocated_bytes(const std::filesystem::path& path) {
  struct stat status {};
  return lstat(path.c_str(), &status) == 0 ? static_cast<std::uint64_t>(status.st_blocks) * 512 : 0;
}

}  // namespace tailrace::testing
