#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "config/exit_codes.hpp"
#include "tests/ctl/pipeline_fixture.hpp"
#include "tests/exporter/http_client.hpp"

namespace tailrace {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ExporterCommand : public PipelineFixture {
 protected:
  /// Starts an exporter, on a port that is free.
  StartedProgram& start_exporter() {
    auto& exporter = start({"exporter", "--listen", "127.0.0.1:0"});
    std::smatch match;
    std::string said;
    EXPECT_TRUE(eventually([&] {
      said = exporter.err();
      return std::regex_search(said, match, std::regex("http://127\\.0\\.0\\.1:([0-9]+)/metrics\n"));
    })) << said;
    port_ = static_cast<std::uint16_t>(std::stoi(match[1]));
    return exporter;
  }

  [[nodiscard]] HttpAnswer ask_for(const std::string& target) const { return get(port_, target); }
  [[nodiscard]] HttpAnswer health(const std::string& question) const {
    return ask_for(question + "/" + name_);
  }

  /// The value of a series of this pipeline, all its labels after `pipeline` given; NaN: there is none.
  [[nodiscard]] double value(const std::string& metric, const std::string& labels = "") const {
    const std::string line =
        metric + "{pipeline=\"" + name_ + "\"" + (labels.empty() ? "" : "," + labels) + "} ";
    const std::string text = "\n" + ask_for("/metrics").body;
    const std::size_t at = text.find("\n" + line);
    return at == std::string::npos ? std::nan("") : std::stod(text.substr(at + 1 + line.size()));
  }

  nlohmann::json status() {
    auto& program = start({"status", name_, "--json"});
    EXPECT_EQ(program.wait(), kExitDone) << program.err();
    return nlohmann::json::parse(program.out())["rings"][0];
  }

  std::uint16_t port_ = 0;
};

TEST_F(ExporterCommand, TellsWhatStatusTellsOfALivePipeline) {
  start_exporter();
  start({"run", write_config(files_group() + held_group(2))});
  wait_until_held();
  const auto ring = status();
  const std::string files = "group=\"files\",role=\"consumer\"";
  EXPECT_EQ(value("tailrace_up"), 1);
  EXPECT_EQ(value("tailrace_ring_state", "state=\"open\""), 1);
  EXPECT_EQ(value("tailrace_job_items"), ring["items"]);
  EXPECT_EQ(value("tailrace_job_published_batches"), ring["published"]);
  EXPECT_EQ(value("tailrace_batches_total", "role=\"producer\""), ring["counters"]["batches"]);
  EXPECT_EQ(value("tailrace_batches_total", files), ring["groups"][0]["counters"]["batches"]);
  EXPECT_EQ(value("tailrace_bytes_total", files), ring["groups"][0]["counters"]["bytes"]);
  EXPECT_EQ(value("tailrace_slots", "group=\"held\",state=\"leased\""), ring["groups"][1]["slots"]["leased"]);
  EXPECT_EQ(value("tailrace_slots_held_up", "group=\"held\""), kSlots);
  EXPECT_EQ(value("tailrace_consumers", "group=\"held\""), 2);
  EXPECT_EQ(value("tailrace_producer_up"), 1);
  EXPECT_GT(value("tailrace_oldest_lease_age_seconds", "group=\"held\""), 0);
  EXPECT_EQ(value("tailrace_stage_seconds_count", files + ",stage=\"slot_round_trip\""), kSlots);
  EXPECT_EQ(health("/livez").status, 200);
  EXPECT_EQ(health("/readyz").body, name_ + ": ready\n");
  EXPECT_EQ(ask_for("/readyz?pipeline=" + name_).status, 200);
  EXPECT_EQ(nlohmann::json::parse(ask_for("/livez/" + name_ + "?format=json").body)["live"], true);
}

TEST_F(ExporterCommand, RecordsEachStageOfABatch) {
  start_exporter();
  start({"run", write_config(files_group() + held_group())});
  wait_until_held();
  for (const std::string stage : {"input_wait", "compute", "egress_copy", "publish"})
    EXPECT_GT(value("tailrace_stage_seconds_sum", "role=\"producer\",stage=\"" + stage + "\""), 0) << stage;
  for (const std::string stage : {"lease_wait", "sink", "slot_round_trip"})
    EXPECT_GT(
        value("tailrace_stage_seconds_sum", "group=\"files\",role=\"consumer\",stage=\"" + stage + "\""), 0)
        << stage;
  EXPECT_TRUE(eventually([&] { return value("tailrace_gpu_busy_ratio") >= 0; }));
}

TEST_F(ExporterCommand, ForgetsRingsThatAreGone) {
  start_exporter();
  auto& run = start({"run", write_config(files_group() + held_group())});
  wait_until_held();
  EXPECT_THAT(ask_for("/metrics").body, HasSubstr(name_));
  release();
  EXPECT_EQ(run.wait(), kExitDone) << run.err();
  EXPECT_THAT(ask_for("/metrics").body, Not(HasSubstr(name_)));
  EXPECT_EQ(health("/livez").status, 404);
  EXPECT_THAT(health("/readyz").body, HasSubstr("there is no ring of pipeline '" + name_ + "'"));
}

TEST_F(ExporterCommand, CountsAConsumersDeathAndIsNotReadyMeanwhile) {
  start_exporter();
  const auto file = write_config(held_group());
  auto& producer = start({"--config", file}, {"", -1}, "tailrace-producer");
  auto& consumer = start({"--config", file, "--group", "held"}, {"", -1}, "tailrace-consumer");
  wait_until_held();
  // A death within the producer's first rounds of looking around is not seen as one.
  ASSERT_TRUE(eventually([&] { return value("tailrace_oldest_lease_age_seconds", "group=\"held\"") > 0.3; }));
  consumer.send(SIGKILL);
  consumer.wait();
  EXPECT_TRUE(
      eventually([&] { return value("tailrace_deaths_total", "group=\"held\",role=\"consumer\"") == 1; }));
  EXPECT_EQ(value("tailrace_consumers", "group=\"held\""), 0);
  EXPECT_THAT(health("/readyz").body, HasSubstr("group held has no consumer"));
  EXPECT_EQ(health("/livez").status, 200);
  producer.send(SIGKILL);
  producer.wait();
  EXPECT_EQ(value("tailrace_producer_up"), 0);
  EXPECT_THAT(health("/readyz").body,
              HasSubstr("the producer (pid " + std::to_string(producer.pid()) + ") died"));
}

TEST_F(ExporterCommand, IsRedAfterAProducerEndedWithAnErrorUntilAnotherHasPublished) {
  start_exporter();
  const auto file = write_config(held_group());
  auto& first = start({"--config", file}, {"", -1}, "tailrace-producer");
  start({"--config", file, "--group", "held"}, {"", -1}, "tailrace-consumer");
  wait_until_held();
  first.send(SIGTERM);
  first.wait();
  EXPECT_EQ(health("/livez").status, 200) << "it was stopped";
  // The items of the job have changed: refused.
  auto& refused = start({"--config", file, "--set", "source.items=5"}, {"", -1}, "tailrace-producer");
  EXPECT_EQ(refused.wait(), kExitConfig) << refused.err();
  EXPECT_EQ(value("tailrace_producer_failed"), kExitConfig);
  EXPECT_EQ(health("/livez").status, 503);
  EXPECT_THAT(health("/livez").body, HasSubstr("exit code 78"));
  start({"--config", file}, {"", -1}, "tailrace-producer");
  ASSERT_TRUE(eventually([&] { return value("tailrace_producer_up") == 1; }));
  EXPECT_EQ(health("/livez").status, 503) << "the ring is full: it has published nothing yet";
  release();
  EXPECT_TRUE(eventually([&] { return health("/livez").status != 503; })) << health("/livez").body;
}

TEST_F(ExporterCommand, TellsOfForeignAndCutFilesAndGoesOn) {
  start_exporter();
  std::ofstream(files_.control) << std::string(8192, 'x');
  EXPECT_EQ(value("tailrace_up", "reason=\"incompatible\""), 0);
  EXPECT_EQ(health("/livez").status, 503);
  std::ofstream(files_.control) << "";
  EXPECT_EQ(value("tailrace_up", "reason=\"too_small\""), 0);
  std::filesystem::remove(files_.control);
  std::filesystem::create_directory(files_.control);
  EXPECT_EQ(ask_for("/metrics").status, 200);
  std::filesystem::remove(files_.control);
}

TEST_F(ExporterCommand, KeepsToPathsOfItsOwn) {
  start_exporter();
  for (const std::string path :
       {"/livez/../x", "/livez/..%2f..%2fetc%2fpasswd", "/livez/a%20b", "/x", "/metricsx", "/livezz"})
    EXPECT_EQ(ask_for(path).status, 404) << path;
  EXPECT_EQ(ask_for("/livez/" + std::string(300, 'a')).status, 404);
  EXPECT_THAT(ask_for("/").body, HasSubstr("/metrics"));
}

TEST_F(ExporterCommand, HoldsNothingOfWhatItHasLookedAt) {
  auto& exporter = start_exporter();
  start({"run", write_config(files_group() + held_group())});
  wait_until_held();
  const std::filesystem::path process = "/proc/" + std::to_string(exporter.pid());
  const auto count_fds = [&] {
    return std::distance(std::filesystem::directory_iterator(process / "fd"), {});
  };
  const auto count_maps = [&] {
    const std::string maps = content_of(process / "maps");
    return std::count(maps.begin(), maps.end(), '\n');
  };
  const auto resident_pages = [&] {
    std::istringstream fields(content_of(process / "statm"));
    long total = 0;
    long resident = 0;
    fields >> total >> resident;
    return resident;
  };
  const auto scrape = [&](int times) {
    for (int i = 0; i < times; ++i) ASSERT_EQ(ask_for("/metrics").status, 200);
  };
  scrape(100);
  const auto maps = count_maps();
  const auto pages = resident_pages();
  scrape(1000);
  EXPECT_LE(count_maps(), maps + 2);
  EXPECT_LE(resident_pages(), pages + 256) << "1 MiB";
  EXPECT_TRUE(eventually([&] { return count_fds() <= 16; })) << count_fds();
}

TEST_F(ExporterCommand, SaysThatThePortIsTakenAndEndsInOrderWhenTold) {
  auto& first = start_exporter();
  const std::string address = "127.0.0.1:" + std::to_string(port_);
  auto& second = start({"exporter", "--listen", address});
  EXPECT_EQ(second.wait(), kExitTryAgain);
  EXPECT_THAT(second.err(), AllOf(HasSubstr("cannot listen on " + address), HasSubstr("in use")));
  first.send(SIGTERM);
  EXPECT_EQ(first.wait(), kExitDone);
}

TEST_F(ExporterCommand, TellsTheServiceManagerThatItServesAndThatItIsWell) {
  const UniqueFd manager(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  (folder_ / "notify").string().copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(bind(manager.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const timeval patience{60, 0};
  ASSERT_EQ(setsockopt(manager.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
  ASSERT_EQ(setenv("NOTIFY_SOCKET", address.sun_path, 1), 0);
  auto& exporter = start_exporter();
  unsetenv("NOTIFY_SOCKET");
  const auto hear = [&manager] {
    std::array<char, 4096> text{};
    const ssize_t count = read(manager.get(), text.data(), text.size());
    return std::string(text.data(), count < 0 ? 0 : static_cast<std::size_t>(count));
  };
  EXPECT_THAT(hear(), AllOf(HasSubstr("READY=1"), HasSubstr("STATUS=serving http://127.0.0.1:")));
  EXPECT_EQ(hear(), "WATCHDOG=1");
  EXPECT_EQ(hear(), "WATCHDOG=1");
  exporter.send(SIGTERM);
  EXPECT_EQ(exporter.wait(), kExitDone);
}

TEST_F(ExporterCommand, RefusesWhatIsNoAddress) {
  auto& program = start({"exporter", "--listen", "9464"});
  EXPECT_EQ(program.wait(), kExitUsage);
  EXPECT_THAT(program.err(), HasSubstr("it has the form 127.0.0.1:9464"));
}

}  // namespace
}  // namespace tailrace
