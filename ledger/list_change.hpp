#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "ledger/name_list.hpp"
#include "shm/item_map.hpp"

namespace tailrace {

/// The names of a job's items, and which items they are.
struct JobList {
  NameList names;  // by position
  ItemMap items;
};

/// What became of a list. Of equal names the first of the one list is the first of the other, and so on.
struct ListChange {
  static constexpr std::uint64_t kNew = std::numeric_limits<std::uint64_t>::max();

  std::vector<std::uint64_t> former;  // by new position: the old position of the same name, or kNew
  std::vector<std::uint64_t> gone;    // old positions, ascending
};

[[nodiscard]] ListChange compare(const NameList& before, const NameList& after);

/// "12 items came (first: 'a/new.jpg'), 3 went (first: 'b/old.jpg'), 40 moved (first: 'c.jpg')". An item has
/// moved where its index in the whole list has changed.
[[nodiscard]] std::string describe(const ListChange& change, const JobList& before, const JobList& after);

}  // namespace tailrace
