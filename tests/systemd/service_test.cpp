#include <gmock/gmock.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <ostream>

#include "config/exit_codes.hpp"
#include "tests/systemd/service_fixture.hpp"

namespace tailrace {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ServiceTest : public ServiceFixture {
 protected:
  /// The configuration that is already there, with another line or two in front.
  void prepend_to_config(const std::string& lines) const {
    const auto path = folder_ / "pipe line.toml";
    const std::string before = content_of(path);
    std::ofstream(path) << lines << before;
  }
};

TEST_F(ServiceTest, AProducerIsReadyWithItsFirstBatchAndNotBefore) {
  configure(files_group());
  const Started producer = start_producer();
  ASSERT_TRUE(producer.manager->await("READY=1")) << producer.story();
  const RingReport ring = report();
  EXPECT_TRUE(ring.readable()) << "the ring is there";
  EXPECT_GT(producer.manager->count("EXTEND_TIMEOUT_USEC="), 0U) << "loading has advanced";
  EXPECT_LT(producer.manager->find("EXTEND_TIMEOUT_USEC="), producer.manager->find("READY=1"));
  const Started consumer = start_consumer("files");
  EXPECT_EQ(producer.program->wait(), kExitDone) << producer.story();
  EXPECT_EQ(consumer.program->wait(), kExitDone) << consumer.story();
  EXPECT_EQ(whole_batches(), all_batches());
  for (const Started* started : {&producer, &consumer}) {
    ASSERT_TRUE(started->manager->await("STOPPING=1")) << started->story();
    EXPECT_LT(started->manager->find("READY=1"), started->manager->find("STOPPING=1"));
  }
}

TEST_F(ServiceTest, AProducerWhoseInputHangsIsNeverReadyAndExtendsNothingForEver) {
  configure(files_group());
  const Started producer = start_producer({}, "mid_read=hang@1");
  expect_stuck(producer, "main loop");
  EXPECT_EQ(producer.manager->count("READY=1"), 0U);
  const std::size_t stuck = producer.manager->find(kStuck);
  const auto messages = producer.manager->messages();
  for (std::size_t i = stuck; i < messages.size(); ++i)
    EXPECT_THAT(messages[i], Not(HasSubstr("EXTEND_TIMEOUT"))) << producer.story();
}

TEST_F(ServiceTest, AProducerOfAFinishedJobBecomesReadyBeforeItEnds) {
  configure(files_group());
  const Started first = start_producer();
  const Started consumer = start_consumer("files");
  ASSERT_EQ(first.program->wait(), kExitDone) << first.story();
  const Started second = start_producer();
  EXPECT_EQ(second.program->wait(), kExitDone) << second.story();
  EXPECT_TRUE(second.manager->await("READY=1")) << "else its manager takes it for failed";
}

TEST_F(ServiceTest, BothPingWhileTheRingIsFullAndAConsumerWorksWithinItsLimit) {
  configure(held_group());
  const Started producer = start_producer();
  const Started consumer = start_consumer("held");
  wait_until_held();
  expect_pings(producer);
  expect_pings(consumer);
  EXPECT_TRUE(consumer.manager->await("STATUS=batch 0 for ")) << consumer.story();
  release();
  EXPECT_EQ(producer.program->wait(), kExitDone) << producer.story();
}

TEST_F(ServiceTest, AProducerSaysWhichGroupHasNoConsumers) {
  configure(files_group());
  const Started producer = start_producer();
  EXPECT_TRUE(producer.manager->await("STATUS=batch 3 of 12, waiting for consumers: group files has none"))
      << producer.story();
  expect_pings(producer);
}

TEST_F(ServiceTest, AConsumerWithoutARingWaitsWithSignsOfLife) {
  configure(files_group());
  const Started consumer = start_consumer("files");
  EXPECT_TRUE(consumer.manager->await("STATUS=waiting for the ring")) << consumer.story();
  EXPECT_TRUE(consumer.manager->await("READY=1"));
  expect_pings(consumer);
}

TEST_F(ServiceTest, AConsumerNamesTheProducerThatIsGone) {
  configure(files_group());
  const Started producer = start_producer({}, "after_publish=kill@2");
  const Started consumer = start_consumer("files");
  EXPECT_EQ(producer.program->wait(), 128 + SIGKILL) << producer.story();
  EXPECT_TRUE(consumer.manager->await("STATUS=producer pid " + std::to_string(producer.program->pid()) +
                                      " gone since "))
      << consumer.story();
  expect_pings(consumer);
}

TEST_F(ServiceTest, ASinkThatHangsEndsTheSignsOfLifeAfterTheProgressLimit) {
  configure(held_group() + "progress_limit = \"2 s\"\n");
  const Started producer = start_producer();
  const Started consumer = start_consumer("held");
  ASSERT_TRUE(consumer.manager->await("STATUS=batch 0 for ")) << consumer.story();
  ASSERT_TRUE(consumer.manager->await_more(kPing, 2)) << "within its limit it is not stuck";
  expect_stuck(consumer, "main loop");
  EXPECT_EQ(producer.manager->count(kStuck), 0U) << "the producer only waits";
}

TEST_F(ServiceTest, ADecodeWorkerThatHangsEndsTheSignsOfLife) {
  configure(files_group());
  const Started producer = start_producer({}, "mid_read=hang@20");
  const Started consumer = start_consumer("files");
  expect_stuck(producer, "main loop");
  EXPECT_EQ(producer.manager->count("READY=1"), 1U);
  expect_pings(consumer);
}

TEST_F(ServiceTest, ACopyThatNeverEndsEndsTheSignsOfLifeAlthoughTheMainLoopWaitsForAFreeSlot) {
  configure(files_group());
  const Started producer = start_producer({"--set=ring.slots=1"}, "mid_copy=hang@1");
  expect_stuck(producer, "copy out of the device");
}

TEST_F(ServiceTest, StoppingWhileTheInputHangsEndsTheWaitForIt) {
  configure(files_group());
  const Started producer = start_producer({}, "mid_read=hang@20");
  const Started consumer = start_consumer("files");
  ASSERT_TRUE(producer.manager->await("READY=1")) << producer.story();
  ASSERT_TRUE(producer.manager->await(kStuck)) << producer.story();
  producer.program->send(SIGTERM);
  EXPECT_TRUE(eventually([&] { return producer.program->err().find("stopped; ") != std::string::npos; }))
      << producer.story();
}

TEST_F(ServiceTest, ReadsItsConfigurationAgainOnSighup) {
  configure(held_group());
  const Started producer = start_producer();
  const Started consumer = start_consumer("held");
  wait_until_held();
  prepend_to_config("[log]\nlevel = \"debug\"\n[egress]\nspin = \"1 us\"\n");
  std::ofstream(folder_ / "pipe line.toml", std::ios::app) << "progress_limit = \"99 s\"\n";
  for (const Started* started : {&producer, &consumer}) started->program->send(SIGHUP);
  EXPECT_TRUE(eventually([&] {
    return producer.program->err().find("changed: egress.spin, log.level") != std::string::npos;
  })) << producer.story();
  EXPECT_TRUE(eventually([&] {
    return consumer.program->err().find("changed: group.held.progress_limit, log.level") != std::string::npos;
  })) << consumer.story();
  EXPECT_TRUE(producer.program->running());
}

TEST_F(ServiceTest, SurvivesAFaultyConfigurationOnSighup) {
  configure(held_group());
  const Started producer = start_producer();
  const Started consumer = start_consumer("held");
  wait_until_held();
  prepend_to_config("[log]\nlevel = \"loud\"\n");
  producer.program->send(SIGHUP);
  EXPECT_TRUE(eventually([&] {
    return producer.program->err().find("the values from before stay") != std::string::npos;
  })) << producer.story();
  EXPECT_THAT(producer.program->err(), HasSubstr("pipe line.toml:2:"));
  release();
  EXPECT_EQ(producer.program->wait(), kExitDone) << producer.story();
}

TEST_F(ServiceTest, RunPassesTheWishToReadTheConfigurationAgainOn) {
  configure(held_group());
  StartedProgram& run = start({"run", folder_ / "pipe line.toml"});
  wait_until_held();
  prepend_to_config("[log]\nlevel = \"debug\"\n");
  run.send(SIGHUP);
  EXPECT_TRUE(eventually([&] {
    const std::string log = run.err();
    const std::size_t first = log.find("changed: log.level");
    return first != std::string::npos && log.find("changed: log.level", first + 1) != std::string::npos;
  })) << run.err();
  prepend_to_config("levle = 1\n");
  run.send(SIGHUP);
  EXPECT_TRUE(eventually(
      [&] { return run.err().find("the configuration was not read again") != std::string::npos; }));
  release();
  EXPECT_EQ(run.wait(), kExitDone) << run.err();
}

TEST_F(ServiceTest, LeavesNothingBehindWhenItIsStoppedWhileLoading) {
  configure(files_group());
  const Started producer = start_producer();
  ASSERT_TRUE(producer.manager->await("EXTEND_TIMEOUT_USEC=")) << producer.story();
  producer.program->send(SIGTERM);
  EXPECT_EQ(producer.program->wait(), kExitDone) << producer.story();
  const bool loading = producer.program->err().find("stopped while loading") != std::string::npos;
  EXPECT_TRUE(!loading || ring_is_gone());
}

/// How far two processes have got when they are asked to stop.
struct Moment {
  const char* name;
  const char* producer;  // what it has told by then
  const char* consumer;
};

std::ostream& operator<<(std::ostream& stream, const Moment& moment) { return stream << moment.name; }

class StopAt : public ServiceFixture, public testing::WithParamInterface<Moment> {};

TEST_P(StopAt, AnyMomentIsInOrder) {
  configure(files_group());
  for (int cycle = 0; cycle < 5; ++cycle) {
    const Started producer = start_producer({"--set=source.items=460000"});
    const Started consumer = start_consumer("files");
    ASSERT_TRUE(producer.manager->await(GetParam().producer)) << producer.story();
    ASSERT_TRUE(consumer.manager->await(GetParam().consumer)) << consumer.story();
    for (const Started* started : {&producer, &consumer}) started->program->send(SIGTERM);
    EXPECT_EQ(producer.program->wait(), kExitDone) << cycle << producer.story();
    EXPECT_EQ(consumer.program->wait(), kExitDone) << cycle << consumer.story();
  }
}

INSTANTIATE_TEST_SUITE_P(Each, StopAt,
                         testing::Values(Moment{"first_sign", "EXTEND_TIMEOUT_USEC=", "READY=1"},
                                         Moment{"first_status", "STATUS=", "READY=1"},
                                         Moment{"ready", "READY=1", "READY=1"},
                                         Moment{"working", "STATUS=batch ", "READY=1"}),
                         [](const auto& moment) { return std::string(moment.param.name); });

/// The folders of the services' configurations and states, of this process and its children alone.
std::string make_service_folders() {
  if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("tmpfs", "/etc", "tmpfs", 0, "size=1m") != 0 ||
      mount("tmpfs", "/var/lib", "tmpfs", 0, "size=64m") != 0)
    return std::string("no mount namespace: ") + std::strerror(errno);
  std::filesystem::create_directory("/etc/tailrace");
  return {};
}

class Instances : public ServiceFixture {
 protected:
  void SetUp() override {
    if (const std::string problem = make_service_folders(); !problem.empty()) GTEST_SKIP() << problem;
  }
  void install(const std::string& name) const {
    const std::string written = write_config("[[group]]\nname = \"sums\"\nsink = { kind = \"checksum\" }\n");
    std::filesystem::copy_file(written, "/etc/tailrace/" + name + ".toml",
                               std::filesystem::copy_options::overwrite_existing);
  }
};

TEST_F(Instances, ConsumersStayForTheNextJob) {
  install(name_);
  const Started consumer = start_service("tailrace-consumer", {"--instance=" + name_ + ":sums:1"});
  const std::string state = "/var/lib/tailrace/" + name_;
  for (int job = 0; job < 2; ++job) {
    const Started producer = start_service("tailrace-producer", {"--instance=" + name_});
    EXPECT_EQ(producer.program->wait(), kExitDone) << producer.story() << consumer.story();
    EXPECT_TRUE(std::filesystem::exists(state + "/manifest.jsonl"));
    EXPECT_TRUE(ring_is_gone());
    std::filesystem::remove_all(state);
  }
  expect_pings(consumer);
  consumer.program->send(SIGTERM);
  EXPECT_EQ(consumer.program->wait(), kExitDone) << consumer.story();
}

TEST_F(Instances, SayWhereAServiceMayWriteWhereItIsRefusedAFolder) {
  install(name_);
  ASSERT_EQ(mount("tmpfs", "/mnt", "tmpfs", MS_RDONLY, ""), 0) << std::strerror(errno);
  const std::vector<std::pair<std::string, std::vector<std::string>>> services{
      {"tailrace-producer", {"--instance=" + name_, "--set=pipeline.state=/mnt/state"}},
      {"tailrace-consumer",
       {"--instance=" + name_ + ":sums:1", "--set=group.sums.sink.kind=npy",
        "--set=group.sums.sink.path=/mnt/out"}}};
  for (const auto& [program, arguments] : services) {
    const Started started = start_service(program, arguments);
    EXPECT_EQ(started.program->wait(), kExitPermission) << started.story();
    EXPECT_THAT(started.program->err(),
                AllOf(HasSubstr("Read-only file system"), HasSubstr("install -d -o tailrace -g tailrace"),
                      HasSubstr("ReadWritePaths=FOLDER")));
  }
}

TEST_F(Instances, RefuseAConfigurationOfAnotherPipeline) {
  install("other");
  const std::vector<std::pair<std::string, std::string>> services{{"tailrace-producer", "other"},
                                                                  {"tailrace-consumer", "other:sums:1"}};
  for (const auto& [program, instance] : services) {
    const Started started = start_service(program, {"--instance=" + instance});
    EXPECT_EQ(started.program->wait(), kExitConfig) << started.story();
    EXPECT_THAT(started.program->err(), HasSubstr("pipeline.name = \"" + name_ + "\": must be \"other\""));
  }
}

}  // namespace
}  // namespace tailrace
