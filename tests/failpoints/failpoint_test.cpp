#include <signal.h>

#include <ostream>

#include "config/exit_codes.hpp"
#include "tests/failpoints/failpoint_fixture.hpp"

namespace tailrace {
namespace {

using testing::HasSubstr;

enum class Victim { kProducer, kConsumer };

/// A place in the programs, and how a process gets there.
struct Place {
  const char* name;
  Victim victim;
  unsigned pass;                     // at which the victim dies, stops or fails
  const char* producer_before = "";  // orders of a producer that dies before the victim begins
  const char* consumer_before = "";  // orders of a consumer that dies before the victim passes the place
  unsigned slots = 3;                // of the victim's ring, and its successor's
  unsigned max_attempts = 0;

  [[nodiscard]] std::string order(const std::string& action) const {
    return std::string(name) + "=" + action + "@" + std::to_string(pass);
  }
  [[nodiscard]] bool sets_aside() const { return max_attempts != 0; }
  /// Whoever stands still here holds the ledger's lock.
  [[nodiscard]] bool holds_ledger() const { return std::string_view(name) == "mid_ledger"; }
};

std::ostream& operator<<(std::ostream& stream, const Place& place) { return stream << place.order("at"); }

std::string name_of(const testing::TestParamInfo<Place>& info) {
  return std::string(info.param.victim == Victim::kProducer ? "producer_" : "consumer_") + info.param.name +
         "_" + std::to_string(info.param.pass);
}

// A new place is one line here.
const Place kPlaces[] = {
    {"mid_init", Victim::kProducer, 1},
    {"mid_join", Victim::kProducer, 1},
    {"after_claim", Victim::kProducer, 5},
    {"mid_copy", Victim::kProducer, 5},
    {"before_publish", Victim::kProducer, 5},
    {"after_publish", Victim::kProducer, 5},
    {"before_finish", Victim::kProducer, 1},
    {"after_finish", Victim::kProducer, 1},
    {"mid_write", Victim::kProducer, 1},  // the manifest without a byte
    {"before_rename", Victim::kProducer, 1},
    {"after_manifest", Victim::kProducer, 1},
    {"before_remove", Victim::kProducer, 1},
    {"mid_remove", Victim::kProducer, 1},  // the data file is gone
    {"mid_remove", Victim::kProducer, 2},  // the control file, too
    {"mid_takeover", Victim::kProducer, 1, "before_publish=kill@2"},
    {"after_retire", Victim::kProducer, 1, "before_publish=kill@2", "", 4},
    {"mid_reclaim", Victim::kProducer, 1, "", "after_lease=kill@2"},
    {"mid_join", Victim::kConsumer, 1},
    {"after_lease", Victim::kConsumer, 2},
    {"mid_write", Victim::kConsumer, 2},  // a batch's file without a byte: the first pass tries the folder
    {"mid_write", Victim::kConsumer, 3},  // a file with its header
    {"before_rename", Victim::kConsumer, 1},
    {"before_rename", Victim::kConsumer, 2},  // one of a batch's two files has its name
    {"after_file", Victim::kConsumer, 2},
    {"mid_ledger", Victim::kConsumer, 2},
    {"after_ledger", Victim::kConsumer, 2},
    {"before_commit", Victim::kConsumer, 2},
    {"after_commit", Victim::kConsumer, 2},
    {"mid_quarantine", Victim::kConsumer, 1, "", "after_lease=kill@2", 3, 1},
};

class Failpoint : public FailpointFixture, public testing::WithParamInterface<Place> {
 protected:
  Failpoint() { max_attempts_ = place().max_attempts; }

  static const Place& place() { return GetParam(); }

  StartedProgram& start_sized_producer(const std::string& orders = "") {
    return start_producer(orders, {"ring.slots=" + std::to_string(place().slots)});
  }

  /// Starts what has to be there for the victim to pass its place. Returns the victim.
  StartedProgram& start_victim(const std::string& action) {
    if (*place().producer_before != '\0') expect_killed(start_producer(place().producer_before));
    if (place().victim == Victim::kProducer) {
      StartedProgram& victim = start_sized_producer(place().order(action));
      start_consumer(place().consumer_before);
      return victim;
    }
    producer_ = &start_sized_producer();
    if (*place().consumer_before != '\0') expect_killed(start_consumer(place().consumer_before));
    return start_consumer(place().order(action));
  }

  /// Somebody who does what the victim does not.
  void start_peer() {
    if (place().victim == Victim::kProducer) producer_ = &start_sized_producer();
    if (place().victim == Victim::kConsumer || *place().consumer_before != '\0') start_consumer();
  }

  void expect_job_done() {
    if (place().sets_aside())
      expect_complete_but_one(*producer_);
    else
      expect_complete(*producer_);
  }

  StartedProgram* producer_ = nullptr;  // that ends the job
};

class Killed : public Failpoint {};

TEST_P(Killed, LosesNothingAndLeavesNothing) {
  expect_killed(start_victim("kill"));
  start_peer();
  expect_job_done();
}

class Stopped : public Failpoint {
 protected:
  /// A batch is never taken from a living consumer, and the others go on with the rest.
  void expect_others_go_on() {
    start_peer();
    if (place().holds_ledger()) return;
    EXPECT_TRUE(eventually([&] { return whole_batches().size() >= kBatches - 1; }))
        << "the others wait for a process that stands still";
    for (const GroupReport& group : report().groups)
      EXPECT_EQ(group.counters[static_cast<std::size_t>(Counter::kRedeliveries)],
                place().sets_aside() ? 1U : 0U);
  }

  /// A role is never taken from a living producer.
  void expect_no_other_producer(const StartedProgram& victim) {
    StartedProgram& other = start_sized_producer();
    EXPECT_EQ(other.wait(), kExitTryAgain) << other.err();
    EXPECT_THAT(other.err(), HasSubstr("pid " + std::to_string(victim.pid())));
    if (*place().consumer_before != '\0') start_consumer();
  }
};

TEST_P(Stopped, IsNotTakenForDeadAndGoesOn) {
  StartedProgram& victim = start_victim("stop");
  wait_until_stopped(victim);
  if (place().victim == Victim::kProducer) {
    expect_no_other_producer(victim);
    producer_ = &victim;
  } else {
    expect_others_go_on();
  }
  victim.send(SIGCONT);
  expect_job_done();
}

INSTANTIATE_TEST_SUITE_P(At, Killed, testing::ValuesIn(kPlaces), name_of);
INSTANTIATE_TEST_SUITE_P(At, Stopped, testing::ValuesIn(kPlaces), name_of);

class Failing : public Failpoint {};

TEST_P(Failing, LosesNothingAndLeavesNothing) {
  StartedProgram& victim = start_victim("error");
  if (place().victim == Victim::kProducer) {
    EXPECT_EQ(victim.wait(), kExitIo) << victim.err();
    start_peer();
  }
  EXPECT_TRUE(eventually([&] { return victim.err().find("failpoint") != std::string::npos; }))
      << victim.err();
  expect_job_done();
}

INSTANTIATE_TEST_SUITE_P(
    At, Failing,
    testing::Values(Place{"mid_init", Victim::kProducer, 1},
                    Place{"mid_takeover", Victim::kProducer, 1, "before_publish=kill@2"},
                    Place{"mid_copy", Victim::kProducer, 5},
                    Place{"mid_write", Victim::kConsumer,
                          2},  // a batch's file without a byte: the first pass tries the folder
                    Place{"mid_write", Victim::kConsumer, 3},  // a file with its header
                    Place{"before_rename", Victim::kConsumer, 2}, Place{"after_file", Victim::kConsumer, 2},
                    Place{"mid_ledger", Victim::kConsumer, 2}, Place{"after_ledger", Victim::kConsumer, 2}),
    name_of);

class RecordedBatch : public FailpointFixture {};

TEST_F(RecordedBatch, IsNotDoneAgainAfterItsConsumerDied) {
  StartedProgram& producer = start_producer();
  expect_killed(start_consumer("after_ledger=kill@2"));
  StartedProgram& heir = start_consumer();
  expect_complete(producer);
  EXPECT_THAT(heir.err(), HasSubstr("batch 1 was done before; it is not done again"));
}

TEST(ShippedPrograms, KnowNoFailpoints) {
  for (const char* program : {"tailrace", "tailrace-producer", "tailrace-consumer"}) {
    const std::string bytes = content_of(std::filesystem::path(TAILRACE_BINARY_DIR) / program);
    ASSERT_FALSE(bytes.empty()) << program;
    EXPECT_EQ(bytes.find("TAILRACE_FAILPOINTS"), std::string::npos) << program;
  }
}

}  // namespace
}  // namespace tailrace
