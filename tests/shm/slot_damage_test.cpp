#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <random>
#include <thread>

#include "shm/slot_protocol.hpp"

namespace tailrace {
namespace {

constexpr std::size_t kTable = 256;

struct OneSlot {
  std::array<SlotProtocol::Word, 1> p{encode(ready_word(BatchSeq{10}))};
  std::array<SlotProtocol::Word, 1> g{encode(done_word(BatchSeq{9}))};
  [[nodiscard]] std::optional<std::string> damage(std::size_t table = kTable) {
    return SlotProtocol(p, g).find_damage(table);
  }
};

GroupWord leased(std::uint32_t owner, std::uint64_t seq, std::uint32_t attempts = 1) {
  return {GroupState::kLeased, attempts, ParticipantId{owner}, 3, BatchSeq{seq}};
}

TEST(Damage, IsFoundInEveryImpossibleGroupWord) {
  const std::uint64_t done_with_owner = encode(done_word(BatchSeq{10})) | std::uint64_t{5} << 48;
  const std::uint64_t done_with_attempts = encode(done_word(BatchSeq{10})) | std::uint64_t{1} << 56;
  const std::uint64_t done_with_generation = encode(done_word(BatchSeq{10})) | std::uint64_t{1} << 40;
  const std::uint64_t pending_with_owner = encode(pending_word(BatchSeq{10}, 1)) | std::uint64_t{5} << 48;
  for (const std::uint64_t bits :
       {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{4} << 61, done_with_owner, done_with_attempts,
        done_with_generation, pending_with_owner, encode(leased(5, 10, 0)), encode(done_word(BatchSeq{11})),
        encode(pending_word(BatchSeq{9}, 1)), encode(pending_word(BatchSeq{11}, 1)), encode(leased(5, 9)),
        encode(leased(5, 11))}) {
    OneSlot slot;
    slot.g[0] = bits;
    const auto damage = slot.damage();
    ASSERT_TRUE(damage) << std::hex << bits;
    EXPECT_THAT(*damage, ::testing::StartsWith("slot 0, group 0: "));
  }
}

TEST(Damage, IsAnOwnerOutsideTheTable) {
  OneSlot slot;
  slot.g[0] = encode(leased(8, 10));
  EXPECT_FALSE(slot.damage(9));
  EXPECT_THAT(slot.damage(8).value(), ::testing::HasSubstr("owner 8 is outside the table"));
}

TEST(Damage, IsALeaseOfASlotThatIsNotReady) {
  for (const ProducerWord word : {free_word(BatchSeq{10}), filling_word(BatchSeq{10})}) {
    OneSlot slot;
    slot.p[0] = encode(word);
    slot.g[0] = encode(leased(8, 10));
    EXPECT_TRUE(slot.damage());
    slot.g[0] = encode(pending_word(BatchSeq{10}, 0));
    EXPECT_TRUE(slot.damage());
  }
}

TEST(Damage, IsFoundInEveryImpossibleProducerWord) {
  for (const std::uint64_t bits : {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{7} << 61,
                                   encode(ready_word(BatchSeq{10})) | std::uint64_t{1} << 45,
                                   encode(ready_word(BatchSeq{0})), encode(ready_word(kLastSeq))}) {
    OneSlot slot;
    slot.p[0] = bits;
    slot.g[0] = encode(done_word(BatchSeq{0}));
    EXPECT_TRUE(slot.damage()) << std::hex << bits;
  }
}

// Random legal transitions by one thread; another one looks for damage all the time and must find none.
TEST(Damage, IsNeverFoundWhileLegalTransitionsRun) {
  constexpr std::size_t kSlots = 3;
  std::array<SlotProtocol::Word, kSlots> p;
  std::array<SlotProtocol::Word, 2 * kSlots> g;
  for (auto& word : p) word = encode(free_word(BatchSeq{0}));
  for (auto& word : g) word = encode(done_word(BatchSeq{0}));
  std::atomic<bool> stop{false};
  std::optional<std::string> found;
  std::thread watcher([&] {
    const SlotProtocol protocol(p, g);
    while (!stop && !found) found = protocol.find_damage(kTable);
  });

  SlotProtocol protocol(p, g);
  std::mt19937 random(7);
  std::vector<LeasedWord> leases;
  std::vector<SlotId> filling;
  BatchSeq seq{1};
  for (int step = 0; step < 200'000; ++step) {
    switch (random() % 8) {
      case 0:
      case 1:
        if (const auto slot = protocol.find_claimable()) {
          protocol.claim(*slot, seq);
          seq = next(seq);
          filling.push_back(*slot);
        }
        break;
      case 2:
        if (!filling.empty()) {
          if (random() % 4 != 0)
            protocol.publish(filling.back());
          else
            protocol.abandon(filling.back());
          filling.pop_back();
        }
        break;
      case 3:
      case 4:
        if (const auto lease = protocol.try_lease(GroupId{static_cast<std::uint32_t>(random() % 2)},
                                                  {ParticipantId{static_cast<std::uint32_t>(random() % 256)},
                                                   static_cast<std::uint8_t>(random())},
                                                  LeaseFilter::kAny))
          leases.push_back(*lease);
        break;
      case 5:
      case 6:
        if (!leases.empty()) {
          const std::size_t pick = random() % leases.size();
          if (random() % 3 != 0)
            EXPECT_TRUE(protocol.commit(leases[pick]));
          else
            EXPECT_TRUE(protocol.give_back(leases[pick], random() % 2 == 0));
          leases.erase(leases.begin() + static_cast<std::ptrdiff_t>(pick));
        }
        break;
      default:
        if (!leases.empty()) {
          const ParticipantId id = leases.back().word().owner;
          protocol.reclaim_entry(id);
          std::erase_if(leases, [&](const LeasedWord& lease) { return lease.word().owner == id; });
        }
    }
    ASSERT_EQ(protocol.find_damage(kTable), std::nullopt) << "after step " << step;
  }
  stop = true;
  watcher.join();
  EXPECT_EQ(found, std::nullopt);
}

}  // namespace
}  // namespace tailrace
