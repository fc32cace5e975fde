#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ctl/child.hpp"

namespace tailrace {

/// `tailrace bench` with a folder of its own, which is also its place for temporary files. Where a test does
/// not care for what a pipeline does, the programs beside it are doubles: a producer that writes the
/// throughput report it is asked for and ends at once, and consumers that wait.
class BenchFixture : public testing::Test {
 protected:
  struct Ended {
    int code = 0;
    std::string out;
    std::string err;
  };

  BenchFixture();
  ~BenchFixture() override;

  /// From now on the doubles are used. `producer`: what it does before it reports (shell), e.g. "exit 70".
  void use_doubles(const std::string& producer = "");
  /// From now on there is no producer at all.
  void use_no_producer();

  /// Runs `tailrace bench ARGUMENTS…` to its end, with these variables ("NAME=value") besides.
  Ended bench(const std::vector<std::string>& arguments, const std::vector<std::string>& variables = {});
  /// Starts it, in a process group of its own. One at a time; it ends with the test at the latest.
  Child& start(const std::vector<std::string>& arguments, const std::vector<std::string>& variables = {});

  /// Arguments of each call of the producer's double, one after the other.
  [[nodiscard]] std::vector<std::string> producer_calls() const;
  [[nodiscard]] std::filesystem::path file(const std::string& name) const { return folder_ / name; }
  /// Temporary files and rings of the last one that are still there.
  [[nodiscard]] std::vector<std::string> leftovers() const;

 private:
  void write_program(const std::string& name, const std::string& script) const;
  [[nodiscard]] std::string complete_ledger() const;

  std::filesystem::path folder_;
  std::filesystem::path programs_;
  std::optional<Child> child_;
};

}  // namespace tailrace
