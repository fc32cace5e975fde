#pragma once

#include <cstddef>

#include "os/pipe.hpp"

namespace tailrace {

/// A gate between processes that were forked after it was made: who passes waits until it was opened once for
/// each of them.
class Gate {
 public:
  // All of them, the constructor included, throw std::system_error.
  void open_for(std::size_t processes) const;
  void pass() const;

 private:
  Pipe pipe_ = make_pipe();
};

}  // namespace tailrace
