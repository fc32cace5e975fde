#pragma once

#include <cstdint>
#include <optional>

#include "shm/ring.hpp"

namespace tailrace {

/// A lease as the words and stamps of its ring tell of it.
struct LeaseReport {
  std::uint32_t slot = 0;
  std::uint64_t seq = 0;
  std::uint32_t attempt = 0;
  std::uint32_t consumer = 0;
  std::int64_t pid = 0;
  double age_s = 0;
};

/// The lease of this group that has lasted longest; empty: there is none. Advisory: words and stamps of
/// different slots may be from slightly different moments. Any process and thread.
std::optional<LeaseReport> find_oldest_lease(const Ring& ring, GroupId group);

}  // namespace tailrace
