#pragma once

#include <cstdint>
#include <vector>

#include "shm/item_map.hpp"

namespace tailrace {

/// Which batches of the job this producer has to publish, in ascending order: those with an item that some
/// group is not through with. Never changes; any thread.
class BatchPlan {
 public:
  /// `finished`: for each position of the job, whether every group is through with its item.
  BatchPlan(const ItemMap& items, const std::vector<bool>& finished);

  /// The lowest batch to do that is not below `batch`; end() where there is none.
  [[nodiscard]] BatchNumber first_from(BatchNumber batch) const noexcept;
  [[nodiscard]] BatchNumber end() const noexcept { return BatchNumber{to_do_.size()}; }
  [[nodiscard]] bool nothing_to_do() const noexcept { return first_from(BatchNumber{0}) == end(); }

  [[nodiscard]] const ItemMap& items() const noexcept { return items_; }
  /// Items of the batches that are not to be done.
  [[nodiscard]] std::uint64_t finished_items() const noexcept { return finished_items_; }

 private:
  ItemMap items_;
  std::vector<bool> to_do_;  // for each batch
  std::uint64_t finished_items_ = 0;
};

}  // namespace tailrace
