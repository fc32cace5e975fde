#pragma once

#include <string>

#include "shm/ready_queue.hpp"

namespace tailrace {

/// The folder of batches that were set aside: STATE/quarantine/GROUP/batch-N/ with `reason.json` and, unless saving it
/// killed its holders too, `slot.bin` (the slot's bytes as they were; nothing in it has been parsed).
class DeadLetters {
 public:
  DeadLetters(std::string state_folder, std::string group);

  /// Durable when it returns; returns the folder. Throws SinkIoError.
  std::string save(const Lease& lease) const;

 private:
  std::string folder_;
  std::string group_;
};

}  // namespace tailrace
