#include "ctl/bench/gate.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace tailrace {

Gate::Gate() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  read_ = UniqueFd(ends[0]);
  write_ = UniqueFd(ends[1]);
}

void Gate::open_for(std::size_t processes) const {
  for (std::size_t i = 0; i < processes; ++i)
    if (write(write_.get(), "o", 1) != 1)
      throw std::system_error(errno, std::generic_category(), "write to a pipe");
}

void Gate::pass() const {
  char byte = 0;
  if (read(read_.get(), &byte, 1) != 1)
    throw std::system_error(errno, std::generic_category(), "read from a pipe");
}

}  // namespace tailrace
