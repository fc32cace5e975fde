#pragma once

#include <map>
#include <string>

#include "tests/gpu/device_pipeline.hpp"

namespace tailrace {

/// Whole pipelines of one input and one TorchScript model that write .npy files, to compare what comes out.
class WrittenOutputs : public DevicePipeline {
 protected:
  /// Contents by name.
  using Files = std::map<std::string, std::string>;

  struct Ended {
    Files files;
    std::string err;
  };

  static constexpr std::uint64_t kItems = 26;     // of int32 [2, 3, 4, 6], the numbers from 0 upwards
  static constexpr std::uint64_t kBatchSize = 4;  // the last batch is not full

  /// `body` is the model's forward (see write_script), `outputs` the names of what it returns.
  void write_model(const std::string& body, const std::vector<std::string>& outputs);

  /// Runs the pipeline with these settings ("key=value") to its end. Three consumers write the files.
  Ended run(const std::vector<std::string>& settings);

  /// Names of files that are not in both, or not the same.
  static std::vector<std::string> differences(const Files& one, const Files& other);

 private:
  std::vector<std::string> outputs_;
  int runs_ = 0;
};

}  // namespace tailrace
