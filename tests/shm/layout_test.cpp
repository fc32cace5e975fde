#include <gtest/gtest.h>

#include "shm/control_layout.hpp"

namespace tailrace {
namespace {

TEST(ControlLayout, PutsNoPartIntoAnother) {
  for (const std::size_t slots : {std::size_t{1}, std::size_t{7}, kMaxSlots})
    for (const std::size_t groups : {std::size_t{1}, std::size_t{3}, kMaxGroups}) {
      const ControlOffsets at = control_offsets(slots, groups);
      EXPECT_EQ(at.participants, sizeof(ControlHeader));
      EXPECT_GE(at.groups, at.participants + kMaxParticipants * sizeof(ParticipantRecord));
      EXPECT_GE(at.producer, at.groups + groups * sizeof(GroupRecord));
      EXPECT_GE(at.producer_words, at.producer + sizeof(ProducerRecord));
      EXPECT_GE(at.group_words, at.producer_words + slots * 8);
      EXPECT_GE(at.lease_stamps, at.group_words + slots * groups * 8);
      EXPECT_GE(at.total, at.lease_stamps + slots * groups * sizeof(LeaseStamp));
      for (const std::uint64_t offset : {at.groups, at.producer, at.producer_words, at.group_words})
        EXPECT_EQ(offset % 64, 0U);
    }
}

TEST(Histogram, PutsDurationsIntoTheBucketThatItsCommentSays) {
  HistogramRecord histogram{};
  histogram.add(0);
  histogram.add(255);
  histogram.add(256);
  histogram.add(UINT64_MAX);
  EXPECT_EQ(histogram.buckets[0], 2U);
  EXPECT_EQ(histogram.buckets[1], 1U);
  EXPECT_EQ(histogram.buckets[31], 1U);
}

TEST(Counters, HaveADifferentNameEach) {
  for (std::size_t i = 0; i < kCounterCount; ++i)
    for (std::size_t k = 0; k < i; ++k) EXPECT_NE(kCounterNames[i], kCounterNames[k]);
}

}  // namespace
}  // namespace tailrace
