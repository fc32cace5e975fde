#pragma once

#include <string>

#include "consumer/sinks/output_folder.hpp"
#include "shm/ready_queue.hpp"

namespace tailrace {

/// The folder of batches that were set aside: STATE/quarantine/GROUP/batch-N/ with `reason.json` and, unless
/// saving it killed its holders too, `slot.bin` (the slot's bytes as they were; nothing in it has been parsed
/// but N).
class DeadLetters {
 public:
  DeadLetters(const std::string& state_folder, std::string group);

  /// Both files are whole and durable when it returns. Returns the folder. Throws SinkIoError.
  [[nodiscard]] std::string save(const Lease& lease) const;

 private:
  std::string path_;
  std::string group_;
};

}  // namespace tailrace
