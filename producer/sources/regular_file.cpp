#include "producer/sources/regular_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace tailrace {
namespace {

[[noreturn]] void throw_errno(const std::string& doing) {
  const std::error_code code(errno, std::generic_category());
  if (code.value() == EMFILE || code.value() == ENFILE || code.value() == ENOMEM)
    throw std::system_error(code, doing);
  throw BadItem(doing + ": " + code.message(), SkipKind::kUnreadable);
}

void check_regular(mode_t mode) {
  if (S_ISREG(mode)) return;
  if (S_ISDIR(mode)) throw BadItem("a folder, not a file", SkipKind::kUnreadable);
  if (S_ISFIFO(mode)) throw BadItem("a FIFO, not a file", SkipKind::kUnreadable);
  if (S_ISSOCK(mode)) throw BadItem("a socket, not a file", SkipKind::kUnreadable);
  throw BadItem("a device, not a file", SkipKind::kUnreadable);
}

}  // namespace

RegularFile::RegularFile(const std::filesystem::path& path) {
  if (path.native().find('\0') != std::string::npos)
    throw BadItem("the name contains a NUL byte", SkipKind::kUnreadable);
  // Checked before opening, since opening a FIFO or a device can have effects on others, and after it, since
  // the name may have been given to another file in between; O_NONBLOCK covers that case.
  if (::stat(path.c_str(), &status_) != 0) throw_errno("cannot look at the file");
  check_regular(status_.st_mode);
  fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd_ < 0) throw_errno("cannot open the file");
  try {
    if (::fstat(fd_, &status_) != 0) throw_errno("cannot look at the file");
    check_regular(status_.st_mode);
  } catch (...) {
    ::close(fd_);
    throw;
  }
}

RegularFile::~RegularFile() { ::close(fd_); }

std::size_t RegularFile::read_at(std::uint64_t offset, std::span<std::byte> bytes) const {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count =
        ::pread(fd_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_errno("cannot read the file");
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

}  // namespace tailrace
