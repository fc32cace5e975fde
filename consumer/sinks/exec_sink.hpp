#pragma once

#include <string>

#include "config/config.hpp"
#include "consumer/sinks/guarded_group.hpp"
#include "consumer/sinks/sink.hpp"

namespace tailrace {

/// `exec`: runs a program once for each batch and feeds its standard input with
///   1. one line of JSON (UTF-8, ended by a newline):
///      {"tailrace": 1,                      format version
///       "batch": 12,                        batch number
///       "rows": [{"item": 768,              index in the item list: the identity of the item
///                 "name": "a/b.jpg", "output_name": "a/b",   bytes that are no UTF-8 are replaced by U+FFFD
///                 "valid": true, "skip_reason": "",
///                 "height": 480, "width": 640,               of the original image, 0 = not an image
///                 "source": [top, left, height, width], "content": [top, left, height, width]}, …],
///       "tensors": [{"name": "out", "dtype": "float32", "shape": [64, 21, 512, 512], "per_row": true,
///                    "bytes": 1409286144}, …]}
///   2. the bytes of these tensors one after the other, each in logical (row-major) order, little-endian, all
///   rows;
///      those of rows with "valid": false mean nothing.
/// Exit status 0 means that the program has done its work: the batch is committed. The program need not read
/// everything. It must take a shorter input than announced as a failure: then the consumer died. Anything
/// else than status 0 throws std::runtime_error with the status and the last line of its standard error.
class ExecSink : public Sink {
 public:
  explicit ExecSink(const SinkConfig& config);

  std::vector<ItemResult> process(const BatchView& batch) override;

 private:
  SinkConfig config_;
  std::string program_;
  GuardedGroup group_;
};

}  // namespace tailrace
