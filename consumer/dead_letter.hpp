#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "shm/batch_view.hpp"
#include "shm/ready_queue.hpp"

namespace tailrace {

/// Where a batch was set aside.
struct DeadLetter {
  std::string folder;
  std::vector<std::string> files;  // in it, absolute
};

/// What one group cannot get done: the attempts that failed, in the ledger, and the batches that were set
/// aside: STATE/quarantine/GROUP/batch-N/ with `reason.json` (`item-I.json` for a single item) and, unless
/// saving it killed its holders too, `slot.bin` (the slot's bytes as they were; nothing in it has been parsed
/// but N).
class DeadLetters {
 public:
  DeadLetters(const std::string& state_folder, std::string group);

  /// For people; a ledger that cannot be written is only logged: the count that decides is in the slot's
  /// word.
  void note_failure(BatchNumber batch, std::uint32_t attempt, const std::string& what) const;

  /// Both files are whole and durable when it returns. Throws FileError.
  [[nodiscard]] DeadLetter save(const Lease& lease, const std::string& reason) const;
  /// The same for one item of the batch.
  [[nodiscard]] DeadLetter save_item(const Lease& lease, const Row& row, const std::string& reason) const;

 private:
  [[nodiscard]] nlohmann::ordered_json describe(const Lease& lease, const std::string& reason) const;
  [[nodiscard]] DeadLetter write(const Lease& lease, const std::string& name,
                                 const nlohmann::ordered_json& description, bool with_bytes) const;
  [[nodiscard]] bool has_bytes(const std::string& folder) const;

  std::string state_;
  std::string path_;
  std::string group_;
};

}  // namespace tailrace
