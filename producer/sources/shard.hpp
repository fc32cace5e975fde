#pragma once

#include <cstdint>

#include "config/config.hpp"

namespace tailrace {

/// The part of an item list that this pipeline does: items with item % count == index, in order.
class Shard {
 public:
  explicit Shard(const SourceConfig& config) : index_(config.shard_index), count_(config.shard_count) {}

  /// How many of `total` items are in the shard.
  [[nodiscard]] std::uint64_t size(std::uint64_t total) const {
    return total > index_ ? (total - index_ - 1) / count_ + 1 : 0;
  }

  /// Index in the whole list of the shard's item at `position`.
  [[nodiscard]] std::uint64_t item(std::uint64_t position) const { return position * count_ + index_; }

 private:
  std::uint64_t index_;
  std::uint64_t count_;
};

}  // namespace tailrace
