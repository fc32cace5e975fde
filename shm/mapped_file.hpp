#pragma once

#include <sys/types.h>

#include <boost/interprocess/mapped_region.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <system_error>

#include "shm/byte_lock.hpp"

namespace tailrace {

/// A file of the ring, mapped whole. The only place where Boost.Interprocess is used. Errors are
/// std::system_error that name the path; ENOSPC says how much was wanted, how much is there, and what to do.
class MappedFile {
 public:
  enum class Access { kRead, kReadWrite };

  /// A new file of `bytes` zero bytes (in whole blocks of its file system), of which the first
  /// `allocated_bytes` have their memory; touching the others before they are populated may mean SIGBUS.
  /// Refused where the file system has no room for all of them. Mode and group as given whatever the umask
  /// says. `group` empty = as it comes. The file must not exist.
  static MappedFile create(const std::filesystem::path& path, std::uint64_t bytes,
                           std::uint64_t allocated_bytes, mode_t mode, std::optional<gid_t> group);
  /// Empty: there is no such file. Refuses what is not a regular file; symbolic links are not followed.
  static std::optional<MappedFile> open(const std::filesystem::path& path, Access access);

  [[nodiscard]] std::span<std::byte> bytes() const noexcept {
    return {static_cast<std::byte*>(region_.get_address()), region_.get_size()};
  }
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  /// Whether the name `path` still leads to this file.
  [[nodiscard]] bool is_at(const std::filesystem::path& path) const noexcept;
  /// A forked child does not get this mapping: it could keep pinned or busy pages alive.
  void keep_from_children() const noexcept;

 private:
  MappedFile(UniqueFd fd, const std::filesystem::path& path, Access access);

  UniqueFd fd_;
  boost::interprocess::mapped_region region_;
};

/// What opening a file of the ring failed with; EBADMSG where it is a link, a folder or the like, which only
/// a person can mend.
std::system_error cannot_open(const std::filesystem::path& path, int error);

/// A POSIX stat comparison: both lead to the same inode.
bool same_file(int fd, const std::filesystem::path& path) noexcept;

}  // namespace tailrace
