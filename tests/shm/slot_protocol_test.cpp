#include "shm/slot_protocol.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <set>
#include <tuple>

namespace tailrace {
namespace {

constexpr GroupId kGroup{0};
constexpr GroupId kOther{1};
constexpr Owner kMe{ParticipantId{5}, 7};
constexpr Owner kPeer{ParticipantId{9}, 1};

constexpr BatchSeq seq(std::uint64_t number) { return BatchSeq{number}; }
constexpr GroupWord leased_word(Owner owner, std::uint64_t number, std::uint32_t attempts) {
  return {GroupState::kLeased, attempts, owner.id, owner.generation, seq(number)};
}

/// Words of so many slots and two groups on a plain array.
template <std::size_t Slots>
struct Words {
  std::array<SlotProtocol::Word, Slots> p;
  std::array<SlotProtocol::Word, 2 * Slots> g;

  Words() {
    for (auto& word : p) word = encode(free_word(seq(0)));
    for (auto& word : g) word = encode(done_word(seq(0)));
  }
  [[nodiscard]] SlotProtocol protocol() { return {p, g}; }
  void set(std::size_t slot, ProducerWord word) { p[slot] = encode(word); }
  void set(std::size_t slot, GroupId group, GroupWord word) {
    g[index_of(group) * Slots + slot] = encode(word);
  }
  [[nodiscard]] GroupWord at(std::size_t slot, GroupId group) const {
    return decode_group(g[index_of(group) * Slots + slot]);
  }
  [[nodiscard]] ProducerWord at(std::size_t slot) const { return decode_producer(p[slot]); }
};

/// Calls a function at the moment when somebody asks who is alive: between a janitor's look and its swap.
class Deaths : public Liveness {
 public:
  Deaths(std::initializer_list<std::pair<int, int>> dead) : dead_(dead) {}
  bool is_dead(ParticipantId id, std::uint8_t generation) noexcept override {
    asked.push_back(static_cast<int>(index_of(id)));
    if (meanwhile) meanwhile();
    return dead_.contains({static_cast<int>(index_of(id)), generation});
  }
  std::vector<int> asked;
  std::function<void()> meanwhile;

 private:
  std::set<std::pair<int, int>> dead_;
};

TEST(SlotWords, RoundTripAtTheLimitsOfEveryField) {
  for (const auto state : {GroupState::kPending, GroupState::kLeased, GroupState::kDone})
    for (const std::uint32_t attempts : {0U, 1U, 31U})
      for (const std::uint32_t owner : {0U, 255U})
        for (const int generation : {0, 255})
          for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{1}, kSeqMask}) {
            const GroupWord word{state, attempts, ParticipantId{owner}, static_cast<std::uint8_t>(generation),
                                 seq(number)};
            EXPECT_EQ(decode_group(encode(word)), word);
          }
  for (const auto state : {ProducerState::kFree, ProducerState::kFilling, ProducerState::kReady})
    EXPECT_EQ(decode_producer(encode(ProducerWord{state, kLastSeq})), (ProducerWord{state, kLastSeq}));
}

// Every state of P, every state of G, G older / same / newer, attempts, filter: a lease is given in exactly
// the cases of the protocol, and changes nothing in all others.
using LeaseCase = std::tuple<ProducerState, GroupState, int, std::uint32_t, LeaseFilter>;
class Leasing : public ::testing::TestWithParam<LeaseCase> {};

TEST_P(Leasing, HappensExactlyInTheAllowedStates) {
  const auto [p_state, g_state, difference, attempts, filter] = GetParam();
  const std::uint64_t published = 10;
  const std::uint64_t seen = static_cast<std::uint64_t>(10 + difference);
  Words<1> words;
  words.set(0, ProducerWord{p_state, seq(published)});
  GroupWord before{g_state, attempts, ParticipantId{0}, 0, seq(seen)};
  if (g_state == GroupState::kLeased) before = leased_word(kPeer, seen, attempts);
  words.set(0, kGroup, before);

  const bool fresh = g_state == GroupState::kDone && difference < 0;
  const bool returned = g_state == GroupState::kPending && difference == 0;
  const std::uint32_t counted = fresh ? 0 : attempts;
  const bool filtered = filter == LeaseFilter::kFirstAttemptsOnly && counted > 0;
  const bool allowed = p_state == ProducerState::kReady && (fresh || returned) && !filtered;

  const auto lease = words.protocol().try_lease(kGroup, kMe, filter);
  ASSERT_EQ(lease.has_value(), allowed);
  if (!allowed) {
    EXPECT_EQ(words.at(0, kGroup), before);
    return;
  }
  EXPECT_EQ(words.at(0, kGroup), leased_word(kMe, published, std::min(counted + 1, 31U)));
  EXPECT_EQ(lease->word(), words.at(0, kGroup));
}

INSTANTIATE_TEST_SUITE_P(
    AllStates, Leasing,
    ::testing::Combine(::testing::Values(ProducerState::kFree, ProducerState::kFilling,
                                         ProducerState::kReady),
                       ::testing::Values(GroupState::kPending, GroupState::kLeased, GroupState::kDone),
                       ::testing::Values(-1, 0, 1), ::testing::Values(0U, 1U, 30U, 31U),
                       ::testing::Values(LeaseFilter::kAny, LeaseFilter::kFirstAttemptsOnly)));

TEST(Lease, TakesTheLowestSeqFirst) {
  Words<3> words;
  words.set(0, ready_word(seq(9)));
  words.set(1, ready_word(seq(7)));
  words.set(2, ready_word(seq(8)));
  std::vector<std::uint64_t> order;
  while (const auto lease = words.protocol().try_lease(kGroup, kMe, LeaseFilter::kAny))
    order.push_back(value_of(lease->word().seq));
  EXPECT_THAT(order, ::testing::ElementsAre(7, 8, 9));
}

TEST(Lease, OfOneGroupLeavesTheOthersBatchesThere) {
  Words<1> words;
  words.set(0, ready_word(seq(1)));
  ASSERT_TRUE(words.protocol().try_lease(kGroup, kMe, LeaseFilter::kAny));
  EXPECT_FALSE(words.protocol().try_lease(kGroup, kPeer, LeaseFilter::kAny));
  EXPECT_TRUE(words.protocol().try_lease(kOther, kPeer, LeaseFilter::kAny));
}

TEST(Lease, WithAnotherLeaseHeldSkipsSuspectsButTakesWhatIsBehindThem) {
  Words<2> words;
  words.set(0, ready_word(seq(1)));
  words.set(0, kGroup, pending_word(seq(1), 1));
  words.set(1, ready_word(seq(2)));
  const auto lease = words.protocol().try_lease(kGroup, kMe, LeaseFilter::kFirstAttemptsOnly);
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->word().seq, seq(2));
}

TEST(Lease, OfAReusedSlotForgetsTheAttemptsOfItsLastBatch) {
  Words<1> words;
  words.set(0, ready_word(seq(4)));
  words.set(0, kGroup, GroupWord{GroupState::kDone, 9, ParticipantId{0}, 0, seq(3)});
  EXPECT_EQ(words.protocol().try_lease(kGroup, kMe, LeaseFilter::kAny)->word().attempts, 1U);
}

TEST(Commit, MakesTheBatchDoneOnce) {
  Words<1> words;
  words.set(0, ready_word(seq(3)));
  const auto lease = words.protocol().try_lease(kGroup, kMe, LeaseFilter::kAny);
  EXPECT_TRUE(words.protocol().commit(*lease));
  EXPECT_EQ(words.at(0, kGroup), done_word(seq(3)));
  EXPECT_FALSE(words.protocol().commit(*lease));
  EXPECT_FALSE(words.protocol().give_back(*lease, true));
  EXPECT_EQ(words.at(0, kGroup), done_word(seq(3)));
}

TEST(Commit, OfAFormerOwnerChangesNothingInAnyLaterState) {
  const LeasedWord stale{SlotId{0}, kGroup, encode(leased_word(kMe, 3, 1))};
  for (const GroupWord now :
       {pending_word(seq(3), 1), leased_word(kPeer, 3, 2), done_word(seq(3)), leased_word(kMe, 3, 2),
        leased_word({kMe.id, static_cast<std::uint8_t>(kMe.generation + 1)}, 3, 1), leased_word(kMe, 4, 1)}) {
    Words<1> words;
    words.set(0, ready_word(seq(3)));
    words.set(0, kGroup, now);
    EXPECT_FALSE(words.protocol().commit(stale));
    EXPECT_FALSE(words.protocol().give_back(stale, true));
    EXPECT_FALSE(words.protocol().give_back(stale, false));
    EXPECT_EQ(words.at(0, kGroup), now);
  }
}

TEST(GiveBack, KeepsOrRestoresTheAttemptAndNeverRestoresASaturatedOne) {
  for (const bool counted : {true, false})
    for (const std::uint32_t attempts : {1U, 2U, 30U, 31U}) {
      Words<1> words;
      words.set(0, ready_word(seq(3)));
      words.set(0, kGroup, leased_word(kMe, 3, attempts));
      const LeasedWord lease{SlotId{0}, kGroup, encode(leased_word(kMe, 3, attempts))};
      ASSERT_TRUE(words.protocol().give_back(lease, counted));
      const std::uint32_t expected = counted || attempts == 31 ? attempts : attempts - 1;
      EXPECT_EQ(words.at(0, kGroup), pending_word(seq(3), expected));
    }
}

TEST(Claim, IsRefusedUntilEveryGroupIsDoneWithExactlyThisBatch) {
  struct Case {
    ProducerWord p;
    GroupWord one;
    GroupWord two;
    bool claimable;
  };
  const GroupWord done = done_word(seq(5));
  for (const Case& c : std::vector<Case>{{free_word(seq(5)), done_word(seq(4)), done_word(seq(4)), true},
                                         {filling_word(seq(5)), done, done, false},
                                         {ready_word(seq(5)), done, done, true},
                                         {ready_word(seq(5)), done, done_word(seq(4)), false},
                                         {ready_word(seq(5)), done_word(seq(4)), done, false},
                                         {ready_word(seq(5)), done, pending_word(seq(5), 1), false},
                                         {ready_word(seq(5)), leased_word(kMe, 5, 1), done, false}}) {
    Words<1> words;
    words.set(0, c.p);
    words.set(0, kGroup, c.one);
    words.set(0, kOther, c.two);
    EXPECT_EQ(words.protocol().find_claimable().has_value(), c.claimable);
  }
}

TEST(Claim, PrefersAFreeSlotThenTheOldestBatch) {
  Words<3> words;
  for (const auto& [slot, number] : {std::pair{0, 9}, std::pair{1, 7}, std::pair{2, 8}}) {
    words.set(slot, ready_word(seq(number)));
    words.set(slot, kGroup, done_word(seq(number)));
    words.set(slot, kOther, done_word(seq(number)));
  }
  EXPECT_EQ(words.protocol().find_claimable(), SlotId{1});
  words.set(1, filling_word(seq(10)));
  EXPECT_EQ(words.protocol().find_claimable(), SlotId{2});
  words.set(0, free_word(seq(9)));
  EXPECT_EQ(words.protocol().find_claimable(), SlotId{0});
}

TEST(Claim, PublishAndAbandonKeepTheSeqOfTheClaim) {
  Words<1> words;
  SlotProtocol protocol = words.protocol();
  protocol.claim(SlotId{0}, seq(6));
  EXPECT_EQ(words.at(0), filling_word(seq(6)));
  EXPECT_TRUE(protocol.any_filling());
  protocol.abandon(SlotId{0});
  EXPECT_EQ(words.at(0), free_word(seq(6)));
  EXPECT_FALSE(protocol.any_filling());
  protocol.claim(SlotId{0}, seq(7));
  protocol.publish(SlotId{0});
  EXPECT_EQ(words.at(0), ready_word(seq(7)));
}

TEST(Recycling, FreesFillingSlotsOnly) {
  Words<3> words;
  words.set(0, filling_word(seq(4)));
  words.set(1, ready_word(seq(3)));
  words.set(2, filling_word(seq(5)));
  EXPECT_EQ(words.protocol().recycle_filling(), 2U);
  EXPECT_EQ(words.at(0), free_word(seq(4)));
  EXPECT_EQ(words.at(1), ready_word(seq(3)));
  EXPECT_EQ(words.protocol().highest_seq(), seq(5));
}

TEST(Janitor, TakesExactlyTheLeasesOfTheDead) {
  Words<4> words;
  for (int s = 0; s < 4; ++s) words.set(s, ready_word(seq(10 + s)));
  words.set(0, kGroup, leased_word(kPeer, 10, 2));
  words.set(1, kGroup, leased_word({kPeer.id, 2}, 11, 1));  // the entry's living incarnation
  words.set(2, kOther, leased_word(kPeer, 12, 31));
  words.set(3, kGroup, leased_word(kMe, 13, 1));
  Deaths deaths{{9, 1}, {5, 7}};
  const auto reclaimed = words.protocol().reclaim_dead(deaths, kMe.id);
  EXPECT_EQ(reclaimed.size(), 2U);
  EXPECT_EQ(words.at(0, kGroup), pending_word(seq(10), 2));
  EXPECT_EQ(words.at(1, kGroup), leased_word({kPeer.id, 2}, 11, 1));
  EXPECT_EQ(words.at(2, kOther), pending_word(seq(12), 31));
  EXPECT_EQ(words.at(3, kGroup), leased_word(kMe, 13, 1));
  EXPECT_THAT(deaths.asked, ::testing::Not(::testing::Contains(5))) << "asked about itself";
  EXPECT_TRUE(words.protocol().reclaim_dead(deaths, kMe.id).empty()) << "a second pass finds nothing";
}

TEST(Janitor, LosesAgainstWhateverHappensBetweenItsLookAndItsSwap) {
  for (const GroupWord meanwhile : {pending_word(seq(10), 1), done_word(seq(10)), leased_word(kMe, 10, 2)}) {
    Words<1> words;
    words.set(0, ready_word(seq(10)));
    words.set(0, kGroup, leased_word(kPeer, 10, 1));
    Deaths deaths{{9, 1}};
    deaths.meanwhile = [&] { words.set(0, kGroup, meanwhile); };
    EXPECT_TRUE(words.protocol().reclaim_dead(deaths, ParticipantId{77}).empty());
    EXPECT_EQ(words.at(0, kGroup), meanwhile);
  }
}

TEST(EntryTakeover, SweepsEveryWordThatNamesTheEntryWhateverItsGeneration) {
  Words<2> words;
  words.set(0, ready_word(seq(1)));
  words.set(1, ready_word(seq(2)));
  words.set(0, kGroup, leased_word({kMe.id, 1}, 1, 1));
  words.set(1, kGroup, leased_word({kMe.id, 200}, 2, 4));
  words.set(1, kOther, leased_word(kPeer, 2, 1));
  EXPECT_EQ(words.protocol().reclaim_entry(kMe.id).size(), 2U);
  EXPECT_EQ(words.at(0, kGroup), pending_word(seq(1), 1));
  EXPECT_EQ(words.at(1, kGroup), pending_word(seq(2), 4));
  EXPECT_EQ(words.at(1, kOther), leased_word(kPeer, 2, 1));
}

TEST(Done, IsAskedPerGroupAndNeedsExactlyThePublishedBatch) {
  Words<2> words;
  EXPECT_TRUE(words.protocol().all_done());
  words.set(0, ready_word(seq(3)));
  EXPECT_FALSE(words.protocol().group_is_done(kGroup));
  words.set(0, kGroup, done_word(seq(3)));
  EXPECT_TRUE(words.protocol().group_is_done(kGroup));
  EXPECT_FALSE(words.protocol().all_done());
  words.set(0, kOther, leased_word(kMe, 3, 1));
  EXPECT_FALSE(words.protocol().group_is_done(kOther)) << "a peer's lease may come back";
  words.set(0, kOther, done_word(seq(3)));
  EXPECT_TRUE(words.protocol().all_done());
  words.set(1, filling_word(seq(4)));
  EXPECT_TRUE(words.protocol().all_done()) << "what is not published is nobody's";
}

TEST(Counting, PutsEverySlotInOneState) {
  Words<5> words;
  words.set(1, filling_word(seq(9)));
  words.set(2, ready_word(seq(5)));
  words.set(3, ready_word(seq(6)));
  words.set(4, ready_word(seq(7)));
  words.set(3, kGroup, leased_word(kMe, 6, 1));
  words.set(4, kGroup, done_word(seq(7)));
  const SlotCounts counts = words.protocol().count(kGroup);
  EXPECT_EQ(std::tie(counts.free, counts.filling, counts.ready, counts.leased, counts.done),
            std::make_tuple(1U, 1U, 1U, 1U, 1U));
}

}  // namespace
}  // namespace tailrace
