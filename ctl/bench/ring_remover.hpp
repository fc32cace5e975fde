#pragma once

#include <utility>

#include "shm/ring_owner.hpp"

namespace tailrace {

/// Removes a ring at the end, unless somebody alive holds it. Made before the processes that use the ring.
class RingRemover {
 public:
  explicit RingRemover(RingFiles files) : files_(std::move(files)) {}
  RingRemover(const RingRemover&) = delete;
  RingRemover& operator=(const RingRemover&) = delete;
  ~RingRemover() {
    try {
      static_cast<void>(clean_ring(files_));
    } catch (const std::exception&) {
      // A ring that cannot be removed is found by `tailrace clean`.
    }
  }

 private:
  RingFiles files_;
};

}  // namespace tailrace
