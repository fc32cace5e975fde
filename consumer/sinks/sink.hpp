#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "os/io_error.hpp"
#include "shm/batch_view.hpp"

namespace tailrace {

/// What a sink made of one valid row.
struct ItemResult {
  std::uint64_t item = 0;
  std::vector<std::string> files;         // final names, absolute
  std::uint64_t bytes = 0;                // read from the batch for this item
  std::optional<std::uint64_t> checksum;  // XXH3-64 of the item's bytes, see ChecksumSink
};

/// Post-processes or persists batches. One object per consumer process (or per `inline` producer), used by
/// one thread. When `process` returns, every file that it names is complete under its final name and durable;
/// when it throws, final names hold only complete files and temporary ones are gone. Doing the same batch
/// twice is harmless.
class Sink {
 public:
  Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  virtual ~Sink() = default;

  /// One result for each valid row, in row order. Throws FileError, or another exception when this batch
  /// cannot be processed (wrong rank, the user's program failed): such a batch is retried and set aside in
  /// the end.
  virtual std::vector<ItemResult> process(const BatchView& batch) = 0;
};

}  // namespace tailrace
