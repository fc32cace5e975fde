#pragma once

#include "os/unique_fd.hpp"

namespace tailrace {

struct Pipe {
  UniqueFd read, write;
};

/// Both ends are closed in programs that are started. Throws FileError.
Pipe make_pipe();

}  // namespace tailrace
