#pragma once

#include <string>

#include "config/config.hpp"
#include "consumer/sinks/sink.hpp"

namespace tailrace {

/// `checksum`: reads every byte; XXH3-64 of each item's bytes in all selected tensors that have rows, in the
/// order of the tensors, each as it lies in memory (in row-major order where it has gaps). The same whatever
/// batch the item comes in; not the same for a model that computes channels last and one that does not.
/// Throws std::runtime_error where no selected tensor has rows.
class ChecksumSink : public Sink {
 public:
  explicit ChecksumSink(const SinkConfig& config) : tensor_(config.tensor) {}

  std::vector<ItemResult> process(const BatchView& batch) override;

 private:
  std::string tensor_;
};

}  // namespace tailrace
