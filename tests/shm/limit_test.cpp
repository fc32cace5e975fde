#include "shm/limit.hpp"

#include <gtest/gtest.h>

namespace tailrace {
namespace {

TEST(Limit, IsTheModelWhereTheDeviceIsAlwaysBusyWhateverElseWaits) {
  EXPECT_EQ(limit_of({.waits_slot = 0.4, .waits_device = 0.5, .device_busy = 0.95}), Limit::kModel);
  EXPECT_NE(limit_of({.waits_slot = 0.4, .waits_device = 0.5, .device_busy = 0.94}), Limit::kModel);
}

TEST(Limit, IsTheModelWhereNoWaitIsWorthAChange) {
  EXPECT_EQ(limit_of({.waits_input = 0.049, .waits_slot = 0.04, .waits_device = 0.9, .device_busy = 0.87}),
            Limit::kModel);
  EXPECT_EQ(limit_of({.waits_input = 0.051, .waits_slot = 0.04, .waits_device = 0.9, .device_busy = 0.87}),
            Limit::kInput);
}

TEST(Limit, IsTheLongestWaitHoweverShortItIs) {
  EXPECT_EQ(limit_of({.waits_input = 0.2, .waits_slot = 0.1, .waits_device = 0.6, .device_busy = 0.6}),
            Limit::kInput);
  EXPECT_EQ(limit_of({.waits_input = 0.1, .waits_slot = 0.2, .waits_device = 0.6, .device_busy = 0.6}),
            Limit::kSlots);
}

TEST(Limit, CountsOfTheWaitForTheDeviceOnlyWhatIsNotTheModel) {
  EXPECT_EQ(limit_of({.waits_slot = 0.2, .waits_device = 0.8, .device_busy = 0.7}), Limit::kSlots);
  EXPECT_EQ(limit_of({.waits_slot = 0.2, .waits_device = 0.8, .device_busy = 0.5}), Limit::kDevice);
}

TEST(Limit, IsTheMainLoopWhereItsOwnWorkTakesMostOfItsTime) {
  EXPECT_EQ(limit_of({.waits_input = 0.1, .waits_device = 0.3, .device_busy = 0.3}), Limit::kLoop);
  EXPECT_EQ(limit_of({.waits_device = 0.01, .device_busy = 0.98}), Limit::kLoop) << "many small kernels";
  EXPECT_EQ(limit_of({}), Limit::kLoop);
}

}  // namespace
}  // namespace tailrace
