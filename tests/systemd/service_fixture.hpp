#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "tests/ctl/pipeline_fixture.hpp"
#include "tests/systemd/notify_socket.hpp"

namespace tailrace {

/// A pipeline whose processes run as services would, each with a manager of its own that the test plays.
class ServiceFixture : public PipelineFixture {
 protected:
  static constexpr const char* kPing = "WATCHDOG=1";
  static constexpr const char* kStuck = "STATUS=STUCK";

  /// A process with what it has told its manager.
  struct Started {
    std::unique_ptr<NotifySocket> manager;
    StartedProgram* program = nullptr;

    /// For messages of failed tests.
    [[nodiscard]] std::string story() const { return manager->text() + program->err(); }
  };

  /// The pipeline's configuration from now on.
  void configure(const std::string& groups);
  Started start_producer(const std::vector<std::string>& more = {}, const std::string& failpoints = "");
  Started start_consumer(const std::string& group, const std::string& failpoints = "");
  Started start_service(const std::string& program, const std::vector<std::string>& arguments,
                        const std::string& failpoints = "");

  /// Waits until the process says that it is stuck, and then that it really gives no more signs of life.
  static void expect_stuck(const Started& started, const std::string& part);
  static void expect_pings(const Started& started);

  std::chrono::milliseconds watchdog_{1600};

 private:
  std::string config_;
  int number_ = 0;
};

}  // namespace tailrace
