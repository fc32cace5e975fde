#include "tests/systemd/service_fixture.hpp"

#include <stdlib.h>

namespace tailrace {

void ServiceFixture::configure(const std::string& groups) { config_ = write_config(groups); }

ServiceFixture::Started ServiceFixture::start_service(const std::string& program,
                                                      const std::vector<std::string>& arguments,
                                                      const std::string& failpoints) {
  const auto folder = folder_ / std::to_string(++number_);
  std::filesystem::create_directory(folder);
  Started started{std::make_unique<NotifySocket>(folder, watchdog_), nullptr};
  setenv("TAILRACE_FAILPOINTS", failpoints.c_str(), 1);
  started.program = &start(arguments, {"", -1}, program);
  unsetenv("TAILRACE_FAILPOINTS");
  return started;
}

ServiceFixture::Started ServiceFixture::start_producer(const std::vector<std::string>& more,
                                                       const std::string& failpoints) {
  std::vector<std::string> arguments{"--config=" + config_};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return start_service("tailrace-producer", arguments, failpoints);
}

ServiceFixture::Started ServiceFixture::start_consumer(const std::string& group,
                                                       const std::string& failpoints) {
  return start_service("tailrace-consumer", {"--config=" + config_, "--group=" + group}, failpoints);
}

void ServiceFixture::expect_stuck(const Started& started, const std::string& part) {
  ASSERT_TRUE(started.manager->await(std::string(kStuck) + ": the " + part)) << started.story();
  const auto messages = started.manager->messages();
  const std::size_t stuck = started.manager->find(kStuck);
  for (std::size_t i = stuck; i < messages.size(); ++i) EXPECT_NE(messages[i], kPing) << started.story();
}

void ServiceFixture::expect_pings(const Started& started) {
  EXPECT_TRUE(started.manager->await_more(kPing, 12)) << started.story();
  EXPECT_EQ(started.manager->count(kStuck), 0U) << started.story();
}

}  // namespace tailrace
