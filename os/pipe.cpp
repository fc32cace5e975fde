#include "os/pipe.hpp"

#include <fcntl.h>

#include <array>
#include <cerrno>

#include "os/io_error.hpp"

namespace tailrace {

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw_io_error(errno, "open", "a pipe");
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

}  // namespace tailrace
