#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tailrace {

/// How a group is through with an item. Stored in the ledger: values stay.
enum class ItemState : int {
  kDone = 1,
  kSkipped = 2,  // the source could not read it
  kSetAside = 3  // in quarantine: its consumers died or failed with it
};

/// One row of the ledger: what became of an item in one group.
struct ItemRecord {
  std::uint64_t item = 0;  // index in the source's item list
  ItemState state = ItemState::kDone;
  std::uint64_t batch = 0;
  std::uint32_t row = 0;           // of the item in its batch, and so in a file of the whole batch
  std::vector<std::string> files;  // final names, absolute
  std::uint64_t bytes = 0;         // that the sink read for the item
  std::optional<std::uint64_t> checksum;
  std::uint32_t attempts = 1;  // deliveries of its batch
  std::string reason;          // why it was skipped or set aside
};

}  // namespace tailrace
