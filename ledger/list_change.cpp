#include "ledger/list_change.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "os/io_error.hpp"

namespace tailrace {
namespace {

/// Positions in the order of their names, equal names in the order of the list.
std::vector<std::uint64_t> by_name(const NameList& names) {
  std::vector<std::uint64_t> positions(names.size());
  std::iota(positions.begin(), positions.end(), std::uint64_t{0});
  std::sort(positions.begin(), positions.end(), [&](std::uint64_t a, std::uint64_t b) {
    const int order = names[a].compare(names[b]);
    return order != 0 ? order < 0 : a < b;
  });
  return positions;
}

/// How many items changed in one way, and the first of them.
class Change {
 public:
  void add(std::string_view name) {
    if (count_++ == 0) first_ = name;
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::string text(const char* verb) const {
    return std::to_string(count_) + " " + verb + (count_ == 0 ? "" : " (first: " + in_quotes(first_) + ")");
  }

 private:
  std::uint64_t count_ = 0;
  std::string_view first_;
};

}  // namespace

ListChange compare(const NameList& before, const NameList& after) {
  ListChange change{std::vector<std::uint64_t>(after.size(), ListChange::kNew), {}};
  const std::vector<std::uint64_t> new_order = by_name(after);
  auto next = new_order.begin();
  for (const std::uint64_t old_position : by_name(before)) {
    const std::string_view name = before[old_position];
    while (next != new_order.end() && after[*next] < name) ++next;
    if (next != new_order.end() && after[*next] == name)
      change.former[*next++] = old_position;
    else
      change.gone.push_back(old_position);
  }
  std::sort(change.gone.begin(), change.gone.end());
  return change;
}

std::string describe(const ListChange& change, const JobList& before, const JobList& after) {
  Change came;
  Change went;
  Change moved;
  for (std::uint64_t position = 0; position < change.former.size(); ++position) {
    const std::uint64_t former = change.former[position];
    if (former == ListChange::kNew)
      came.add(after.names[position]);
    else if (before.items.item(former) != after.items.item(position))
      moved.add(after.names[position]);
  }
  for (const std::uint64_t position : change.gone) went.add(before.names[position]);
  if (came.count() + went.count() + moved.count() == 0)
    return "the same names in the same order, but the items are read in another way (size, type, resizing)";
  return came.text(came.count() == 1 ? "item came" : "items came") + ", " + went.text("went") + ", " +
         moved.text("moved");
}

}  // namespace tailrace
