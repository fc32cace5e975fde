#include "producer/batch_plan.hpp"

#include <algorithm>

namespace tailrace {

BatchPlan::BatchPlan(const ItemMap& items, const std::vector<bool>& finished)
    : items_(items), to_do_(items.batch_count()) {
  for (std::uint64_t batch = 0; batch < to_do_.size(); ++batch) {
    const auto first = static_cast<std::ptrdiff_t>(batch * items.batch_size);
    const auto last =
        static_cast<std::ptrdiff_t>(std::min((batch + 1) * items.batch_size, items.position_count));
    to_do_[batch] =
        std::find(finished.begin() + first, finished.begin() + last, false) != finished.begin() + last;
    if (!to_do_[batch]) finished_items_ += static_cast<std::uint64_t>(last - first);
  }
}

BatchNumber BatchPlan::first_from(BatchNumber batch) const noexcept {
  if (value_of(batch) >= to_do_.size()) return end();
  const auto from = to_do_.begin() + static_cast<std::ptrdiff_t>(value_of(batch));
  return BatchNumber{static_cast<std::uint64_t>(std::find(from, to_do_.end(), true) - to_do_.begin())};
}

}  // namespace tailrace
