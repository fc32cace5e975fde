#include "ctl/ring_troubles.hpp"

#include <gmock/gmock.h>

#include "tests/ctl/made_report.hpp"

namespace tailrace {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::report;

auto says(const std::string& words) { return ::testing::Field(&Trouble::text, HasSubstr(words)); }

TEST(Troubles, AreNoneWhereEverybodyWorks) { EXPECT_THAT(troubles_of(report()), IsEmpty()); }

TEST(Troubles, AreNoneInARingThatIsDone) {
  RingReport ring = report();
  ring.state = RingState::kFinished;
  ring.groups[0].done = true;
  ring.producer.reset();
  ring.consumers.clear();
  EXPECT_THAT(troubles_of(ring), IsEmpty());
}

TEST(Troubles, NameADeadProducer) {
  RingReport ring = report();
  ring.producer->alive = false;
  ring.producer->heartbeat_age_s = 12;
  EXPECT_THAT(troubles_of(ring), ElementsAre(says("the producer (pid 77) died 12.0 s ago")));
}

TEST(Troubles, NameAProducerThatLeft) {
  RingReport ring = report();
  ring.producer.reset();
  EXPECT_THAT(troubles_of(ring), ElementsAre(says("no producer")));
}

TEST(Troubles, NameHowAProducerFailed) {
  RingReport ring = report();
  ring.producer.reset();
  ring.failed_producer = ProducerEndReport{70, 5};
  EXPECT_THAT(troubles_of(ring), ElementsAre(says("exit code 70 (GPU error) 5.00 s ago")));
  ring.role_held = true;
  EXPECT_THAT(troubles_of(ring), ElementsAre(says("none has published since")))
      << "its successor is starting";
}

TEST(Troubles, NameAProcessThatStandsStill) {
  RingReport ring = report();
  ring.consumers[0].heartbeat_age_s = 60;
  EXPECT_THAT(troubles_of(ring), ElementsAre(says("kill -CONT 101")));
}

TEST(Troubles, NameAGroupWithoutConsumers) {
  RingReport ring = report();
  ring.consumers[0].alive = false;
  EXPECT_THAT(troubles_of(ring), ElementsAre(says("systemctl --failed")));
  EXPECT_THAT(troubles_of(ring), ElementsAre(says("tailrace scale seg:masks 1")));
  ring.groups[0].done = true;
  ring.state = RingState::kFinished;
  EXPECT_THAT(troubles_of(ring), IsEmpty()) << "nothing will come";
}

TEST(Troubles, NameABatchThatTakesMuchLongerThanOthers) {
  RingReport ring = report();
  ring.groups[0].oldest_lease = LeaseReport{3, 9, 1, 1, 101, 90};
  EXPECT_THAT(troubles_of(ring), ElementsAre(says("pid 101 of group masks has had slot 3 for 1:30")));
  testing::set(ring.groups[0].stages, Stage::kSink, testing::times(5, 20'000'000'000));
  EXPECT_THAT(troubles_of(ring), IsEmpty()) << "others take 20 s";
}

TEST(Troubles, NameStorageThatRefuses) {
  RingReport ring = report();
  ring.consumers[0].activity = name_of(Activity::kRetrying);
  EXPECT_THAT(troubles_of(ring), ElementsAre(says("cannot store its batch")));
}

TEST(Troubles, NameAModelThatDoesNotReturn) {
  RingReport ring = report();
  ring.producer->activity_age_s = 301;
  EXPECT_THAT(troubles_of(ring), ElementsAre(says("is stuck in compute for 5:01, longer than its 5:00")));
}

TEST(Troubles, NameDamageAndWhatCannotBeRead) {
  RingReport ring = report();
  ring.damage = "slot 3";
  EXPECT_THAT(troubles_of(ring), ElementsAre(says("damaged: slot 3")));
  RingReport other;
  other.detail = "layout version 9";
  EXPECT_THAT(troubles_of(other), ElementsAre(says("layout version 9")));
}

}  // namespace
}  // namespace tailrace
