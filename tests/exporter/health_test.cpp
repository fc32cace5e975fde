#include "ctl/exporter/health.hpp"

#include <gmock/gmock.h>

#include "config/exit_codes.hpp"
#include "ctl/exporter/health_answer.hpp"
#include "ctl/ring_troubles.hpp"
#include "tests/exporter/example_ring.hpp"

namespace tailrace {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Health, IsGreenWhereAllIsWell) {
  const Health health = judge(example_ring());
  EXPECT_THAT(health.not_live, IsEmpty());
  EXPECT_THAT(health.not_ready, IsEmpty());
}

TEST(Health, IsRedAfterAGpuErrorUntilASuccessorHasPublished) {
  RingReport ring = example_ring();
  ring.failed_producer = ProducerEndReport{.exit_code = kExitGpu, .age_s = 12};
  EXPECT_THAT(judge(ring).not_live,
              ElementsAre(AllOf(HasSubstr("exit code 70 (GPU error)"), HasSubstr("12.0 s ago"))));
  EXPECT_FALSE(judge(ring).ready());
}

TEST(Health, IsRedWhereAConsumerIsLongerAtABatchThanItsLimit) {
  RingReport ring = example_ring();
  ring.consumers[0].activity_age_s = 59;
  EXPECT_TRUE(judge(ring).live());
  ring.consumers[0].activity_age_s = 61;
  EXPECT_THAT(judge(ring).not_live,
              ElementsAre(HasSubstr(
                  "consumer 1 of group masks (pid 11) is stuck in sink for 1:01, longer than its 1:00")));
}

TEST(Health, TakesADefaultLimitForWhoHasNotSaid) {
  RingReport ring = example_ring();
  ring.producer->activity_age_s = kDefaultProgressLimitS - 1;
  EXPECT_TRUE(judge(ring).live());
  ring.producer->activity_age_s = kDefaultProgressLimitS + 1;
  EXPECT_THAT(judge(ring).not_live, ElementsAre(HasSubstr("the producer (pid 10) is stuck in compute")));
}

TEST(Health, LetsProcessesWaitForOthersAsLongAsTheyMust) {
  RingReport ring = example_ring();
  for (const Activity activity :
       {Activity::kWaiting, Activity::kDraining, Activity::kRetrying, Activity::kSlot}) {
    ring.producer->activity = name_of(activity);
    ring.producer->activity_age_s = 100'000;
    EXPECT_TRUE(judge(ring).live()) << name_of(activity);
  }
}

TEST(Health, IsNotReadyWhileAConsumerCannotStore) {
  RingReport ring = example_ring();
  ring.consumers[0].activity = name_of(Activity::kRetrying);
  ring.consumers[0].activity_age_s = 12;
  EXPECT_TRUE(judge(ring).live());
  EXPECT_THAT(judge(ring).not_ready,
              ElementsAre(HasSubstr("consumer 1 of group masks (pid 11) cannot store its batch")));
}

TEST(Health, IsRedWhereACopyIntoASlotDoesNotEnd) {
  RingReport ring = example_ring();
  ring.producer->activity = name_of(Activity::kSlot);
  ring.producer->activity_age_s = 100'000;
  ring.groups[0].slots.filling = 1;
  EXPECT_FALSE(judge(ring).live());
}

TEST(Health, IsRedWhereAProcessIsFrozen) {
  RingReport ring = example_ring();
  ring.consumers[0].activity = name_of(Activity::kWaiting);
  ring.consumers[0].heartbeat_age_s = 61;
  EXPECT_THAT(judge(ring).not_live, ElementsAre(HasSubstr("has not moved for 1:01")));
}

TEST(Health, GivesADeadProducerTimeToBeReplaced) {
  RingReport ring = example_ring();
  ring.producer->alive = false;
  ring.role_held = false;
  ring.producer->heartbeat_age_s = kReplacedWithinS - 1;
  EXPECT_TRUE(judge(ring).live());
  EXPECT_FALSE(judge(ring).ready());
  ring.producer->heartbeat_age_s = kReplacedWithinS + 1;
  EXPECT_THAT(judge(ring).not_live,
              ElementsAre(HasSubstr("(pid 10) died 31.0 s ago, and no other one has taken its place")));
  ring.role_held = true;  // its successor loads its model
  EXPECT_TRUE(judge(ring).live());
  EXPECT_THAT(judge(ring).not_ready, ElementsAre("the producer is starting"));
}

TEST(Health, IsLiveButNotReadyWhereTheProducerWasStopped) {
  RingReport ring = example_ring();
  ring.producer.reset();
  ring.role_held = false;
  EXPECT_TRUE(judge(ring).live());
  EXPECT_THAT(judge(ring).not_ready, ElementsAre(HasSubstr("no producer")));
}

TEST(Health, IsReadyOnlyOnceSomethingWasPublished) {
  RingReport ring = example_ring();
  ring.producer->batches = 0;
  EXPECT_TRUE(judge(ring).live());
  EXPECT_THAT(judge(ring).not_ready, ElementsAre("the producer has not published anything yet"));
}

TEST(Health, IsNotReadyWhereAGroupHasNoLivingConsumer) {
  RingReport ring = example_ring();
  ring.consumers[0].alive = false;
  EXPECT_TRUE(judge(ring).live());
  EXPECT_THAT(judge(ring).not_ready, ElementsAre(HasSubstr("group masks has no consumer")));
}

TEST(Health, NeedsNoConsumerForAFinishedRingOfWhichTheGroupHasEverything) {
  RingReport ring = example_ring();
  ring.state = RingState::kFinished;
  ring.consumers.clear();
  EXPECT_FALSE(judge(ring).ready()) << "something is left to lease";
  ring.groups[0].done = true;
  EXPECT_TRUE(judge(ring).ready());
}

TEST(Health, IsNotReadyWhileItDrains) {
  RingReport ring = example_ring();
  ring.drain_requested = true;
  EXPECT_TRUE(judge(ring).live());
  EXPECT_THAT(judge(ring).not_ready, ElementsAre("it drains"));
}

TEST(Health, IsRedForADamagedRingAndOneThatCannotBeRead) {
  RingReport ring = example_ring();
  ring.damage = "slot 3: state 7";
  EXPECT_THAT(judge(ring).not_live, ElementsAre(HasSubstr("slot 3: state 7")));
  RingReport foreign;
  foreign.name = "seg";
  foreign.attach = AttachState::kIncompatible;
  foreign.detail = "is not a ring's";
  EXPECT_THAT(judge(foreign).not_live, ElementsAre(HasSubstr("is not a ring's")));
  foreign.attach = AttachState::kInitialising;
  EXPECT_TRUE(judge(foreign).live());
  EXPECT_FALSE(judge(foreign).ready());
}

TEST(Health, OfARingThatMayNotBeReadIsUnknownAndNotDead) {
  RingReport ring;
  ring.name = "seg";
  ring.attach = AttachState::kIncompatible;
  ring.forbidden = true;
  ring.detail = "Permission denied";
  EXPECT_TRUE(judge(ring).live());
  EXPECT_THAT(judge(ring).not_ready, ElementsAre(HasSubstr("may not be read: Permission denied")));
}

TEST(HealthAnswer, NamesEachPipelineAndIsRedWhereOneOfThemIs) {
  const Health well;
  const Health ill{{"a", "b"}, {"a", "b", "c"}};
  const HttpResponse answer = answer_health(HealthQuestion::kLive, {{"one", well}, {"two", ill}}, false);
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.body, "one: live\ntwo: not live: a; b\n");
  EXPECT_EQ(answer_health(HealthQuestion::kReady, {{"one", well}}, false).status, 200);
}

TEST(HealthAnswer, IsJsonWhereAsked) {
  const HttpResponse answer = answer_health(HealthQuestion::kReady, {{"two", {{}, {"c\xff"}}}}, true);
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.content_type, "application/json");
  EXPECT_THAT(answer.body, AllOf(HasSubstr("\"ready\": false"), HasSubstr("\"reasons\"")));
}

}  // namespace
}  // namespace tailrace
