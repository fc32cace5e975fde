#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>

#include "shm/slot_population.hpp"
#include "shm/slot_renewal.hpp"
#include "tests/shm/mounted_folder.hpp"

namespace tailrace {
namespace {

using testing::allocated_bytes;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MountedFolder;
using testing::own;
using testing::small_spec;
using testing::TempFolder;

constexpr SlotId kSlot{0};

void ignore(SlotId) {}

bool all_are(std::span<const std::byte> bytes, std::byte value) {
  return std::all_of(bytes.begin(), bytes.end(), [&](std::byte b) { return b == value; });
}

/// The message of an ENOSPC error; otherwise what came instead.
template <typename Action>
std::string no_room_message(Action action) {
  try {
    action();
  } catch (const std::system_error& error) {
    return error.code() == std::errc::no_space_on_device ? error.what()
                                                         : "another code: " + error.code().message();
  }
  return "no exception";
}

TEST(PopulatedRing, HasAllItsMemory) {
  const TempFolder folder;
  const RingOwner owner = own(folder.files(), small_spec());
  EXPECT_LT(allocated_bytes(folder.files().data), 4 * kSlotAlignment) << "allocated before it is told where";
  const PopulateReport report = owner.populate({}, ignore);
  EXPECT_GE(allocated_bytes(folder.files().data), 4 * kSlotAlignment);
  EXPECT_GE(report.pages.resident_bytes, 4 * kSlotAlignment);
  EXPECT_GE(report.thread_count, 1U);
}

TEST(PopulatedRing, HasSlotsThatAreReadyInOrderEachWithItsMemory) {
  const TempFolder folder;
  RingSpec spec = small_spec(3);
  spec.slot_bytes = (32U << 20) + 1;  // two chunks, the second one short
  const RingOwner owner = own(folder.files(), spec);
  std::vector<std::size_t> ready;
  owner.populate({}, [&](SlotId slot) {
    ready.push_back(index_of(slot));
    EXPECT_GE(report_pages(owner.ring().slot(slot)).resident_bytes, spec.slot_bytes * ready.size());
  });
  EXPECT_THAT(ready, ElementsAre(0, 1, 2));
}

TEST(PopulatedRing, KeepsTheBatchesOfAPredecessor) {
  const TempFolder folder;
  {
    const RingOwner first = own(folder.files(), small_spec());
    first.populate({}, ignore);
    std::ranges::fill(first.ring().slot(SlotId{2}), std::byte{7});
  }
  const RingOwner second = own(folder.files(), small_spec());
  ASSERT_TRUE(second.taken_over());
  second.populate({}, ignore);
  EXPECT_TRUE(all_are(second.ring().slot(SlotId{2}), std::byte{7}));
}

TEST(PopulatedRing, TakesANodeThatIsNotThereAsAWarning) {
  const TempFolder folder;
  const RingOwner owner = own(folder.files(), small_spec(1));
  for (const int node : {1023, 4711}) EXPECT_TRUE(owner.populate({node}, ignore).numa_error) << node;
  EXPECT_FALSE(owner.populate({}, ignore).numa_error) << "no node was asked for";
  EXPECT_GE(allocated_bytes(folder.files().data), kSlotAlignment);
}

TEST(PopulatedRing, GoesOnAfterSignals) {
  static volatile std::sig_atomic_t left = 0;
  left = 4;
  struct sigaction action {};
  action.sa_handler = [](int) {
    left = left - 1;
    if (left <= 0) {
      const itimerval off{};
      setitimer(ITIMER_REAL, &off, nullptr);
    }
  };
  struct sigaction before {};
  sigaction(SIGALRM, &action, &before);
  const TempFolder folder;
  const auto file = MappedFile::create(folder.path() / "big", 256U << 20, 1, 0600, std::nullopt);
  const itimerval often{{0, 4'000}, {0, 4'000}};
  setitimer(ITIMER_REAL, &often, nullptr);
  EXPECT_FALSE(populate({file.fd(), 0, file.bytes()}));
  while (left > 0) pause();
  sigaction(SIGALRM, &before, nullptr);
  EXPECT_GE(allocated_bytes(folder.path() / "big"), 256U << 20);
}

/// A tmpfs that a ring of one or two small slots fits into; skips the test where it cannot be had.
class SmallMount : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!mount.problem().empty()) GTEST_SKIP() << mount.problem();
  }
  /// Only the data are in the small file system.
  [[nodiscard]] RingFiles files() const { return {"test", mount.path(), control.path()}; }

  MountedFolder mount{"tmpfs", "size=8m"};
  TempFolder control;
};

TEST_F(SmallMount, ThatFillsUpMeanwhileIsSaidWithBothSizesAndNothingStays) {
  const RingOwner owner = own(files(), small_spec(2));
  const Ring consumer = testing::attach(files(), RingAccess::kConsumer);
  mount.fill();
  EXPECT_THAT(no_room_message([&] { owner.populate({}, ignore); }),
              AllOf(HasSubstr(std::to_string(data_file_bytes(2, kSlotAlignment)) + " bytes"),
                    HasSubstr("bytes are free"), HasSubstr(files().data.string())));
  EXPECT_THAT(mount.names(), ElementsAre("filler"));
  EXPECT_THAT(control.names(), IsEmpty());
  EXPECT_EQ(consumer.state(), RingState::kRetired) << "consumers that were quick must leave it";
}

TEST_F(SmallMount, ThatIsFullLeavesATakenOverRingWithItsBatches) {
  {
    const RingOwner first = own(files(), small_spec(2));
    renew_slot(first.ring(), kSlot, 4096);
    std::ranges::fill(first.ring().slot(kSlot).first(4096), std::byte{7});
  }
  mount.fill();
  const RingOwner second = own(files(), small_spec(2));
  EXPECT_THAT(no_room_message([&] { second.populate({}, ignore); }), HasSubstr("bytes are free"));
  EXPECT_TRUE(second.ring().names_intact());
  EXPECT_EQ(second.ring().state(), RingState::kOpen);
  EXPECT_TRUE(all_are(second.ring().slot(kSlot).first(4096), std::byte{7}));
}

TEST_F(SmallMount, LosesTheRingWhoseCallbackFails) {
  const RingOwner owner = own(files(), small_spec(2));
  EXPECT_THROW(owner.populate({}, [](SlotId) { throw std::logic_error("x"); }), std::logic_error);
  EXPECT_THAT(mount.names(), IsEmpty());
  EXPECT_THAT(control.names(), IsEmpty());
}

TEST_F(SmallMount, HasRoomForExactlyTheRingThatFillsIt) {
  const RingOwner owner = own(files(), small_spec(3));  // and 2 MiB for the header
  owner.populate({}, ignore);
  EXPECT_GE(allocated_bytes(files().data), 3 * kSlotAlignment);
}

TEST_F(SmallMount, GivesARenewedSlotZeroesAndOnlyWhatTheBatchNeeds) {
  const RingOwner owner = own(files(), small_spec(1));
  owner.populate({}, ignore);
  std::ranges::fill(owner.ring().slot(kSlot), std::byte{0xff});
  const std::uint64_t before = allocated_bytes(files().data);
  renew_slot(owner.ring(), kSlot, 5000);
  EXPECT_EQ(before - allocated_bytes(files().data), kSlotAlignment - 8192);
  EXPECT_TRUE(all_are(owner.ring().slot(kSlot), std::byte{0}));
}

TEST_F(SmallMount, RenewsTheWholeSlotWhereMoreIsWanted) {
  const RingOwner owner = own(files(), small_spec(1));
  renew_slot(owner.ring(), kSlot, UINT64_MAX);
  EXPECT_GE(allocated_bytes(files().data), small_spec().slot_bytes);
}

TEST_F(SmallMount, ThatIsFullRefusesToRenewASlotWithBothSizes) {
  const RingOwner owner = own(files(), small_spec(1));
  mount.fill();
  EXPECT_THAT(no_room_message([&] { renew_slot(owner.ring(), kSlot, 5000); }),
              AllOf(HasSubstr("5000 bytes"), HasSubstr("bytes are free"), HasSubstr(files().data.string())));
  std::filesystem::remove(mount.path() / "filler");
  EXPECT_NO_THROW(renew_slot(owner.ring(), kSlot, 5000));
}

TEST(HugePageMount, GivesThePagesThatItWasMountedWith) {
  for (const std::string mode : {"always", "within_size", "advise"}) {
    const MountedFolder mount("tmpfs", "size=16m,huge=" + mode);
    if (!mount.problem().empty()) GTEST_SKIP() << mount.problem();
    const RingOwner owner = own(mount.files(), small_spec(4));
    const PageReport pages = owner.populate({}, ignore).pages;
    if (pages.huge_bytes == 0) GTEST_SKIP() << "this kernel has no huge pages to give for huge=" << mode;
    EXPECT_EQ(pages.page_bytes(), pages.huge_page_bytes) << mode;
    renew_slot(owner.ring(), kSlot, 1);
    EXPECT_TRUE(all_are(owner.ring().slot(kSlot), std::byte{0}));
  }
}

TEST(Hugetlbfs, HoldsARingWherePagesAreReserved) {
  const MountedFolder mount("hugetlbfs", "pagesize=2M");
  if (!mount.problem().empty()) GTEST_SKIP() << mount.problem();
  const TempFolder control;
  const RingFiles files("test", mount.path(), control.path());
  std::optional<RingOwner> owner;
  const std::string problem = no_room_message([&] { owner.emplace(own(files, small_spec(2))); });
  if (!owner) GTEST_SKIP() << problem;
  EXPECT_EQ(owner->populate({}, ignore).pages.page_bytes(), 2U << 20);
  std::ranges::fill(owner->ring().slot(kSlot), std::byte{0xff});
  renew_slot(owner->ring(), kSlot, 1);
  EXPECT_TRUE(all_are(owner->ring().slot(kSlot), std::byte{0}));
  EXPECT_TRUE(testing::attach(files, RingAccess::kConsumer).has_data());
}

}  // namespace
}  // namespace tailrace
