// A producer is killed in mid-run, and the next one is started with other settings; no consumer is restarted.
#include <signal.h>
#include <unistd.h>

#include "config/exit_codes.hpp"
#include "shm/ring_owner.hpp"
#include "tests/ctl/pipeline_fixture.hpp"

namespace tailrace {
namespace {

using testing::HasSubstr;

class ProducerRestart : public PipelineFixture {
 protected:
  StartedProgram& consumer(const std::string& config, const std::string& group) {
    return start({"--config=" + config, "--group=" + group}, {"", -1}, "tailrace-consumer");
  }
  StartedProgram& producer(const std::string& config, const std::string& setting = "log.level=info") {
    return start({"--config=" + config, "--set", setting}, {"", -1}, "tailrace-producer");
  }
  static bool said(const StartedProgram& program, const std::string& text) {
    return eventually([&] { return program.err().find(text) != std::string::npos; });
  }
  void expect_done(StartedProgram& last, const std::vector<StartedProgram*>& consumers) {
    EXPECT_EQ(last.wait(), kExitDone) << last.err();
    for (StartedProgram* each : consumers) EXPECT_EQ(each->wait(), kExitDone) << each->err();
    EXPECT_EQ(whole_batches(), all_batches());
    EXPECT_TRUE(ring_is_gone());
  }
};

TEST_F(ProducerRestart, WithTheSameSettingsGoesOnInTheSameRing) {
  const std::string config = write_config(files_group() + held_group());
  const std::vector<StartedProgram*> consumers{&consumer(config, "files"), &consumer(config, "held")};
  auto& first = producer(config);
  wait_until_held();
  first.send(SIGKILL);
  first.wait();
  auto& second = producer(config);
  ASSERT_TRUE(said(second, "took over the ring of a dead producer: going on with batch 3")) << second.err();
  release();
  expect_done(second, consumers);
}

TEST_F(ProducerRestart, WithMoreSlotsWaitsForTheConsumersAndTakesThemToItsNewRing) {
  const std::string config = write_config(files_group() + held_group());
  const std::vector<StartedProgram*> consumers{&consumer(config, "files"), &consumer(config, "held")};
  auto& first = producer(config);
  wait_until_held();
  first.send(SIGKILL);
  first.wait();
  auto& second = producer(config, "ring.slots=" + std::to_string(kSlots + 2));
  ASSERT_TRUE(said(second, "waiting for the consumers to finish the old ring")) << second.err();
  EXPECT_EQ(report().groups[1].slots.leased, 1U) << "the lease of a living consumer was not waited for";
  release();
  expect_done(second, consumers);
}

TEST_F(ProducerRestart, WithOneMoreGroupTakesTheConsumersOfTheOthersToItsNewRing) {
  const std::string config = write_config(held_group());
  std::vector<StartedProgram*> consumers{&consumer(config, "held")};
  auto& first = producer(config);
  ASSERT_TRUE(eventually([&] {
    const RingReport ring = report();
    return ring.readable() && ring.groups[0].slots.leased == 1;
  }));
  first.send(SIGKILL);
  first.wait();
  const std::string wider = write_config(files_group() + held_group());
  auto& second = producer(wider);
  ASSERT_TRUE(said(second, "waiting for the consumers to finish the old ring")) << second.err();
  consumers.push_back(&consumer(wider, "files"));
  release();
  expect_done(second, consumers);
}

// The batches that nobody works for would be waited for until somebody does.
TEST_F(ProducerRestart, WithMoreSlotsAndNoConsumerWaitsForNobody) {
  const std::string config = write_config(files_group() + held_group());
  auto& first = producer(config);
  ASSERT_TRUE(eventually([&] {
    const RingReport ring = report();
    return ring.readable() && ring.groups[0].slots.ready == kSlots;
  }));
  first.send(SIGKILL);
  first.wait();
  auto& second = producer(config, "ring.slots=" + std::to_string(kSlots + 2));
  ASSERT_TRUE(eventually([&] {
    const RingReport ring = report();
    return ring.readable() && ring.groups[0].slots.ready == kSlots + 2;
  })) << second.err();
  release();
  expect_done(second, {&consumer(config, "files"), &consumer(config, "held")});
}

}  // namespace
}  // namespace tailrace
