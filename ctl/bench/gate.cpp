#include "ctl/bench/gate.hpp"

#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace tailrace {

void Gate::open_for(std::size_t processes) const {
  for (std::size_t i = 0; i < processes; ++i)
    if (write(pipe_.write.get(), "o", 1) != 1)
      throw std::system_error(errno, std::generic_category(), "write to a pipe");
}

void Gate::pass() const {
  char byte = 0;
  if (read(pipe_.read.get(), &byte, 1) != 1)
    throw std::system_error(errno, std::generic_category(), "read from a pipe");
}

}  // namespace tailrace
