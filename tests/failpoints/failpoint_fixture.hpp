#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/ctl/pipeline_fixture.hpp"

namespace tailrace {

/// A pipeline of which the test starts each process by itself, some with orders for their failpoints. Its one
/// group, "files", writes a file for each batch.
class FailpointFixture : public PipelineFixture {
 protected:
  /// `orders`: TAILRACE_FAILPOINTS of this one process. `sets`: more of its --set.
  StartedProgram& start_producer(const std::string& orders = "", const std::vector<std::string>& sets = {});
  StartedProgram& start_consumer(const std::string& orders = "");

  /// The [[group]] "files".
  [[nodiscard]] virtual std::string group_settings() const;

  /// The process has killed itself at its failpoint.
  static void expect_killed(StartedProgram& program);
  /// Waits until the process has stopped itself at its failpoint.
  static void wait_until_stopped(const StartedProgram& program);
  /// Everybody ends in order, every batch's file is there and right, and nothing else is left.
  void expect_complete(StartedProgram& producer);
  /// The same for a job of which one batch was set aside.
  void expect_complete_but_one(StartedProgram& producer);

  /// The group's max_attempts; not to be changed once a process was started.
  unsigned max_attempts_ = 0;

 private:
  const std::string& config();
  StartedProgram& start_with(const std::string& orders, const std::string& program,
                             const std::vector<std::string>& arguments);
  void expect_nothing_left();
  void expect_ledger(std::uint64_t done, std::uint64_t set_aside) const;

  std::string config_;  // path
  std::vector<std::unique_ptr<StartedProgram>> processes_;
  std::vector<StartedProgram*> consumers_;  // that are to end in order
};

}  // namespace tailrace
