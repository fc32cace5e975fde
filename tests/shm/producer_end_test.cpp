#include "shm/producer_end.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "os/clock.hpp"
#include "tests/shm/support.hpp"

namespace tailrace {
namespace {

using testing::attach;
using testing::own;
using testing::publish_batch;
using testing::small_spec;
using testing::TempFolder;

TEST(ProducerEnd, IsNotedInTheRingThatTheProducerHasLeft) {
  const TempFolder folder;
  { const RingOwner owner = own(folder.files(), small_spec()); }
  const std::uint64_t before_ns = monotonic_ns();
  note_producer_end(folder.files(), 70);
  const Ring ring = attach(folder.files(), RingAccess::kObserver);
  EXPECT_EQ(ring.producer().end.exit_code, 70U);
  EXPECT_EQ(ring.producer().end.generation, ring.participants()[0].generation);
  EXPECT_GE(ring.producer().end.ended_ns, before_ns);
}

TEST(ProducerEnd, IsNotNotedWhereAnotherProducerHasTheRing) {
  const TempFolder folder;
  const RingOwner owner = own(folder.files(), small_spec());
  owner.participant().record().pid = 1;  // another process
  note_producer_end(folder.files(), 75);
  EXPECT_EQ(owner.ring().producer().end.generation, 0U);
}

TEST(ProducerEnd, IsThatOfAnEarlierGenerationForTheSuccessor) {
  const TempFolder folder;
  { const RingOwner owner = own(folder.files(), small_spec()); }
  note_producer_end(folder.files(), 70);
  const RingOwner successor = own(folder.files(), small_spec());
  const ParticipantRecord& entry = successor.participant().record();
  EXPECT_NE(entry.generation, successor.ring().producer().end.generation);
  EXPECT_EQ(entry.batches, 0U) << "what its predecessor published does not count";
  Janitor janitor(successor.ring(), kProducerId, {});
  FreeQueue queue(successor.ring(), janitor, {}, successor.start().next_seq);
  ASSERT_TRUE(publish_batch(queue, 0));
  EXPECT_EQ(entry.batches, 1U);
}

TEST(ProducerEnd, IsOfNoConsequenceWhereThereIsNoRing) {
  const TempFolder folder;
  note_producer_end(folder.files(), 70);
  EXPECT_TRUE(folder.names().empty());
  std::ofstream(folder.files().control) << "no ring";
  note_producer_end(folder.files(), 70);
}

}  // namespace
}  // namespace tailrace
