#pragma once

#include <cstddef>

#include "shm/unique_fd.hpp"

namespace tailrace {

/// A gate between processes that were forked after it was made: who passes waits until it was opened once for
/// each of them.
class Gate {
 public:
  /// Throws std::system_error, as the others.
  Gate();

  void open_for(std::size_t processes) const;
  void pass() const;

 private:
  UniqueFd read_;
  UniqueFd write_;
};

}  // namespace tailrace
