#include "producer/egress/ring_memory.hpp"

#include <gmock/gmock.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <sstream>

#include "tests/egress/egress_fixture.hpp"
#include "tests/shm/mounted_folder.hpp"

namespace tailrace {
namespace {

using testing::allocated_bytes;
using ::testing::AllOf;
using testing::EgressRing;
using ::testing::HasSubstr;
using ::testing::Not;

class RingsMemory : public ::testing::Test {
 protected:
  RingsMemory() {
    const auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(log_);
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", sink));
  }
  ~RingsMemory() override { spdlog::set_default_logger(before_); }

  RingMemory prepare(EgressStrategyKind strategy) { return {ring.owner, strategy, device}; }
  [[nodiscard]] const ProducerGauges& gauges() const { return ring.owner.ring().producer().gauges; }
  [[nodiscard]] bool has_memory() const { return allocated_bytes(folder.files().data) >= 8 * kSlotAlignment; }
  [[nodiscard]] std::string log() const { return log_.str(); }

  testing::TempFolder folder;
  EgressRing ring{folder.files(), 8};
  testing::FakeGpu device;

 private:
  std::ostringstream log_;
  std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
};

TEST_F(RingsMemory, IsPinnedSlotForSlotForStrategiesThatOverlap) {
  for (const auto strategy : {EgressStrategyKind::kAsync, EgressStrategyKind::kStreams}) {
    const RingMemory memory = prepare(strategy);
    for (std::uint32_t s = 0; s < 8; ++s)
      EXPECT_TRUE(device.pinned.contains(ring.owner.ring().slot(SlotId{s}).data())) << s;
    EXPECT_EQ(gauges().slots_pinned, 8U);
    EXPECT_TRUE(has_memory());
  }
  EXPECT_TRUE(device.pinned.empty()) << "unpinned at the end";
  EXPECT_THAT(log(), AllOf(HasSubstr("ring of 8 slots of 64 KiB in " + folder.path().string() + ": ready in"),
                           HasSubstr(", pinned\n")));
}

TEST_F(RingsMemory, IsPinnedWholeOrNotAtAll) {
  device.can_pin = 3;
  const RingMemory memory = prepare(EgressStrategyKind::kStreams);
  EXPECT_TRUE(device.pinned.empty());
  EXPECT_EQ(device.pins_tried, 4U) << "tried again after a failure";
  EXPECT_EQ(gauges().slots_pinned, 0U);
  EXPECT_TRUE(has_memory()) << "unpinned it is slow, and works";
  EXPECT_THAT(log(), AllOf(HasSubstr("cannot pin 65536 bytes: no more (slot 4 of 8, 512 KiB in all)"),
                           HasSubstr("LimitMEMLOCK"), HasSubstr(", NOT PINNED\n")));
}

TEST_F(RingsMemory, IsNotPinnedWhereTheProducerWaitsForCopies) {
  const RingMemory memory = prepare(EgressStrategyKind::kPool);
  EXPECT_EQ(device.pins_tried, 0U);
  EXPECT_TRUE(has_memory());
  EXPECT_EQ(gauges().slots_pinned, 0U);
  EXPECT_THAT(log(), Not(HasSubstr("NOT PINNED")));
}

TEST_F(RingsMemory, IsNotPinnedWithoutAGpu) {
  device.cuda = false;
  const RingMemory memory = prepare(EgressStrategyKind::kStreams);
  EXPECT_EQ(device.pins_tried, 0U);
  EXPECT_TRUE(has_memory());
}

TEST_F(RingsMemory, IsLeftToEachBatchOfWorkers) {
  const RingMemory memory = prepare(EgressStrategyKind::kWorkers);
  EXPECT_LT(allocated_bytes(folder.files().data), kSlotAlignment);
  EXPECT_EQ(device.pins_tried, 0U);
}

TEST_F(RingsMemory, TellsWhatItGotAndForgetsThePredecessors) {
  ProducerGauges& stale = ring.owner.ring().producer().gauges;
  stale.slots_pinned = 99;
  stale.page_bytes = 99;
  stale.numa_node = 99;
  {
    const RingMemory memory = prepare(EgressStrategyKind::kWorkers);
    EXPECT_EQ(gauges().slots_pinned, 0U);
    EXPECT_EQ(gauges().page_bytes, 0U);
    EXPECT_EQ(gauges().numa_node, -1);
  }
  device.node = 0;
  const RingMemory memory = prepare(EgressStrategyKind::kPool);
  EXPECT_EQ(gauges().page_bytes, report_pages(ring.owner.ring().data_pages().bytes).page_bytes());
  EXPECT_EQ(gauges().numa_node, 0);
}

TEST_F(RingsMemory, IsInHugePagesWhereTheFileSystemLeavesThatToItsUsers) {
  const testing::MountedFolder mount("tmpfs", "size=32m,huge=advise");
  if (!mount.problem().empty()) GTEST_SKIP() << mount.problem();
  EgressRing huge(mount.files(), 8);
  const RingMemory memory(huge.owner, EgressStrategyKind::kPool, device);
  if (report_pages(huge.owner.ring().data_pages().bytes).huge_bytes < 8 * kSlotAlignment)
    GTEST_SKIP() << "this kernel has not enough huge pages to give";
  EXPECT_EQ(huge.owner.ring().producer().gauges.page_bytes, 2U << 20);
  EXPECT_THAT(log(), HasSubstr("pages 2 MiB, "));
}

TEST_F(RingsMemory, GoesOnWithAWarningWhereItCannotBeNearTheDevice) {
  device.node = 1023;
  const RingMemory memory = prepare(EgressStrategyKind::kPool);
  EXPECT_TRUE(has_memory());
  EXPECT_THAT(log(), AllOf(HasSubstr("not placed on NUMA node 1023"), HasSubstr("NUMA node any")));
}

}  // namespace
}  // namespace tailrace
