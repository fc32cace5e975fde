#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "shm/ids.hpp"

namespace tailrace {

/// Most items that a job can have: indices stay in 64 bits (and SQLite's integers) whatever the shard.
inline constexpr std::uint64_t kMaxItems = std::uint64_t{1} << 31;

/// Which items of a source's whole list make up which batch. Batch b holds the positions b * batch_size and
/// following of the job; with a shard the job is every shard_count-th item of the list.
struct ItemMap {
  std::uint64_t position_count = 0;  // items of the job
  std::uint32_t batch_size = 1;
  std::uint32_t shard_index = 0;
  std::uint32_t shard_count = 1;

  bool operator==(const ItemMap&) const = default;

  /// Index in the whole list.
  [[nodiscard]] std::uint64_t item(std::uint64_t position) const noexcept {
    return position * shard_count + shard_index;
  }
  [[nodiscard]] std::uint64_t batch_count() const noexcept {
    return position_count / batch_size + (position_count % batch_size == 0 ? 0 : 1);
  }
  /// First position of a batch; may lie behind the end of the job.
  [[nodiscard]] std::uint64_t first_position(BatchNumber batch) const noexcept {
    return value_of(batch) * batch_size;
  }
  /// The items of a batch, ascending; fewer in the last one, none behind it.
  [[nodiscard]] std::vector<std::uint64_t> items_of(BatchNumber batch) const {
    std::vector<std::uint64_t> items;
    if (value_of(batch) >= batch_count()) return items;
    const std::uint64_t first = first_position(batch);
    const std::uint64_t last = std::min(first + batch_size, position_count);
    items.reserve(last - first);
    for (std::uint64_t position = first; position < last; ++position) items.push_back(item(position));
    return items;
  }
};

}  // namespace tailrace
