#include "producer/egress/link_check.hpp"

#include <gmock/gmock.h>

#include "producer/errors.hpp"
#include "tests/producer/stub_device.hpp"
#include "tests/shm/support.hpp"

namespace tailrace {
namespace {

class LinkDevice final : public StubDevice {
 public:
  std::optional<LinkFigures> measure_link(std::span<std::byte> target) override {
    measured = target;
    if (out_of_memory) throw OutOfDeviceMemory("cannot have 268435456 bytes on the GPU");
    return figures;
  }

  std::optional<LinkFigures> figures = LinkFigures{55e9, 54e9, 1};
  std::span<std::byte> measured;
  bool out_of_memory = false;
};

class LinkCheck : public ::testing::Test {
 protected:
  LinkCheck() : owner_(testing::own(folder_.files(), spec())) {
    owner_.ring().producer().gauges.slots_pinned = 2;
  }

  static RingSpec spec() {
    RingSpec spec = testing::small_spec(2);
    spec.slot_bytes = std::size_t{16} << 20;
    return spec;
  }

  testing::TempFolder folder_;
  RingOwner owner_;
  LinkDevice device_;
};

TEST_F(LinkCheck, MeasuresWithASlotThatHoldsNothingAndKeepsTheLimit) {
  owner_.ring().protocol().claim(SlotId{0}, BatchSeq{1});
  check_link(owner_.ring(), device_);
  EXPECT_EQ(device_.measured.data(), owner_.ring().slot(SlotId{1}).data());
  EXPECT_EQ(owner_.ring().producer().gauges.link_bytes_per_s, 55'000'000'000U);
}

TEST_F(LinkCheck, TouchesNoSlotWhereEachOneHoldsABatch) {
  owner_.ring().protocol().claim(SlotId{0}, BatchSeq{1});
  owner_.ring().protocol().claim(SlotId{1}, BatchSeq{2});
  check_link(owner_.ring(), device_);
  EXPECT_TRUE(device_.measured.empty());
  EXPECT_NE(owner_.ring().producer().gauges.link_bytes_per_s, 0U);
}

TEST_F(LinkCheck, TouchesNoSlotOfARingThatIsNotPinned) {
  owner_.ring().producer().gauges.slots_pinned = 0;
  check_link(owner_.ring(), device_);
  EXPECT_TRUE(device_.measured.empty()) << "with `workers` it would have no memory";
  EXPECT_EQ(owner_.ring().producer().gauges.link_bytes_per_s, 55'000'000'000U);
}

TEST_F(LinkCheck, IsLeftOutWhereTheDeviceHasNoMemoryForIt) {
  device_.out_of_memory = true;
  EXPECT_NO_THROW(check_link(owner_.ring(), device_));
  EXPECT_EQ(owner_.ring().producer().gauges.link_bytes_per_s, 0U);
}

TEST_F(LinkCheck, LeavesTheFigureEmptyWithoutALink) {
  device_.figures.reset();
  check_link(owner_.ring(), device_);
  EXPECT_EQ(owner_.ring().producer().gauges.link_bytes_per_s, 0U);
}

}  // namespace
}  // namespace tailrace
