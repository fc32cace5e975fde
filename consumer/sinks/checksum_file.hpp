#pragma once

#include <string>
#include <vector>

#include "consumer/sinks/sink.hpp"
#include "shm/unique_fd.hpp"

namespace tailrace {

/// What the sink `checksum` found: STATE/checksums/GROUP-ID.jsonl, appended to, one line for each item:
/// {"item": 12, "xxh3": "0123456789abcdef"}. An item that was delivered again stands there again. Other
/// sinks' results leave no file.
class ChecksumFile {
 public:
  ChecksumFile(const std::string& state_folder, const std::string& group, unsigned id);

  /// Writes the lines of one batch at once. Throws SinkIoError.
  void append(const std::vector<ItemResult>& results);

 private:
  std::string path_;
  UniqueFd file_;  // opened for the first line
};

}  // namespace tailrace
