#include "shm/participant.hpp"

#include "tests/shm/owning.hpp"

namespace tailrace {
namespace {

using testing::Child;
using testing::own;
using testing::Owning;
using testing::Producer;

class Joining : public Owning {};

TEST_F(Joining, AnEntryTakenOverHandsItsLeasesOnWithAWakeUpAndCountsThem) {
  Producer producer(files, spec);
  producer.publish(1);
  const Ring& ring = producer.owner.ring();
  ASSERT_TRUE(ring.protocol().try_lease(GroupId{0}, {ParticipantId{1}, 0}, LeaseFilter::kAny));
  const std::uint32_t ticket = ring.ready_events().prepare();
  const auto successor = Participant::join(ring, GroupId{0});
  ASSERT_EQ(successor->id(), ParticipantId{1});
  EXPECT_EQ(successor->swept().size(), 1U);
  EXPECT_NE(ring.ready_events().prepare(), ticket);
  EXPECT_EQ(ring.group_counters(GroupId{0}).get(Counter::kRedeliveries), 1U);
}

TEST_F(Joining, TheParticipantTableTakesTwoHundredAndFiftyFiveConsumersInAnyNumberOfProcesses) {
  const RingOwner owner = own(files, spec);
  std::vector<std::unique_ptr<Child>> children;
  std::size_t joined = 0;
  for (int i = 0; i < 6; ++i) {  // a process may hold at most 64 byte locks
    children.push_back(std::make_unique<Child>([&](const Child::Line& line) {
      const Ring ring = testing::attach(files, RingAccess::kConsumer);
      std::vector<Participant> participants;
      while (participants.size() < 50) {
        auto participant = Participant::join(ring, GroupId{0});
        if (!participant) break;
        participants.push_back(std::move(*participant));
      }
      line.say(static_cast<char>(participants.size() + 1));
      (void)line.hear();
    }));
    joined += static_cast<std::size_t>(children.back()->hear()) - 1;
  }
  EXPECT_EQ(joined, kMaxParticipants - 1);
  EXPECT_FALSE(Participant::join(owner.ring(), GroupId{0})) << "full";
  children.front()->kill_now();
  EXPECT_TRUE(Participant::join(owner.ring(), GroupId{0}));
}

}  // namespace
}  // namespace tailrace
