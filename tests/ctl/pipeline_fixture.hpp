#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "ctl/ring_report.hpp"
#include "tests/ctl/started_program.hpp"

namespace tailrace {

/// A small pipeline of its own name and folder: synthetic items of which every element is known, a group
/// "files" that writes them, and where wanted a group "held" whose consumers wait, each with its first batch,
/// until release() is called: the ring fills up and the pipeline stands still, half-way, for as long as the
/// test needs.
class PipelineFixture : public testing::Test {
 protected:
  static constexpr std::uint64_t kItems = 46;
  static constexpr std::uint64_t kBatchSize = 4;
  static constexpr std::uint64_t kBatches = 12;  // the last one is not full
  static constexpr std::uint64_t kSlots = 3;
  static constexpr std::uint64_t kElements = 6;  // of one item's output

  PipelineFixture();
  ~PipelineFixture() override;

  /// Writes the configuration and returns its path.
  std::string write_config(const std::string& groups) const;
  [[nodiscard]] std::string files_group(unsigned processes = 1) const;
  [[nodiscard]] std::string held_group(unsigned processes = 1) const;

  StartedProgram& start(const std::vector<std::string>& arguments,
                        const StartedProgram::Output& output = {"", -1},
                        const std::string& program = "tailrace");
  void release() const;

  [[nodiscard]] RingReport report() const { return report_on(files_, name_); }
  /// Waits until a consumer of "held" has a batch, the ring is full, and "files" has done all that is in it.
  void wait_until_held() const;
  [[nodiscard]] std::vector<pid_t> ring_pids() const;
  [[nodiscard]] bool ring_is_gone() const;

  /// Numbers of the batches whose file is there; each was checked to hold exactly what the model gives.
  [[nodiscard]] std::vector<std::uint64_t> whole_batches() const;
  static std::vector<std::uint64_t> all_batches();

  const std::string name_;
  const RingFiles files_;
  std::filesystem::path folder_;

 private:
  std::vector<std::unique_ptr<StartedProgram>> programs_;
};

}  // namespace tailrace
