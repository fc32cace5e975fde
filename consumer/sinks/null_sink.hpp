#pragma once

#include <string>

#include "config/config.hpp"
#include "consumer/sinks/sink.hpp"
#include "os/unique_fd.hpp"

namespace tailrace {

/// `null`: writes the tensors' bytes to /dev/null, as they lie in memory.
class NullSink : public Sink {
 public:
  explicit NullSink(const SinkConfig& config);

  std::vector<ItemResult> process(const BatchView& batch) override;

 private:
  std::string tensor_;
  UniqueFd null_;
};

}  // namespace tailrace
