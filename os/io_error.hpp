#pragma once

#include <string>
#include <string_view>
#include <system_error>

namespace tailrace {

/// The world outside refused (disk full, no permission, a path that is in the way): what was tried is fine in
/// itself and can be tried again. The message names the path, the reason and the free space. `code()` is the
/// errno.
class FileError : public std::system_error {
 public:
  using std::system_error::system_error;
};

/// Throws FileError: "cannot <action> '<path>' (<free space>): <reason>". `path` may hold any bytes: they
/// are made printable. `folder_fd` = a descriptor on the file system that is concerned; -1 = none, no free
/// space.
[[noreturn]] void throw_io_error(int error, std::string_view action, std::string_view path,
                                 int folder_fd = -1);

/// `name` between quotes, control characters escaped, so that it stays on one line: newline as \n, others as
/// \xNN. For messages only.
std::string in_quotes(std::string_view name);

}  // namespace tailrace
