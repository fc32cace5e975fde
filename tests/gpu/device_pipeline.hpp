#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "shm/ring_files.hpp"
#include "tests/ctl/started_program.hpp"
#include "tests/gpu/device_under_test.hpp"
#include "tests/sources/temp_folder.hpp"

namespace tailrace {

/// A pipeline of its own name and folder on the device under test; skips where that is not there. Ends its
/// programs and removes its ring.
class DevicePipeline : public testing::Test {
 protected:
  DevicePipeline();
  ~DevicePipeline() override;
  void SetUp() override;

  /// Writes [pipeline] and then `tables` to `file`, and returns its path.
  [[nodiscard]] std::string write_config(const std::string& tables,
                                         const std::string& file = "pipeline.toml") const;
  StartedProgram& start(const std::string& program, const std::vector<std::string>& arguments);
  StartedProgram& start_producer(const std::string& config);

  [[nodiscard]] std::filesystem::path path(const std::string& file) const { return folder_.path() / file; }

  /// The folder of the pipeline's ledger.
  [[nodiscard]] std::string state() const { return path(".tailrace") / name_; }

  const std::string name_;
  const RingFiles files_;
  const TempFolder folder_;

 private:
  std::vector<std::unique_ptr<StartedProgram>> programs_;
};

}  // namespace tailrace
