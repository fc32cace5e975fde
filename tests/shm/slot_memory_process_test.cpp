#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <stdexcept>
#include <vector>

#include "shm/slot_population.hpp"
#include "tests/shm/mounted_folder.hpp"

namespace tailrace {
namespace {

using testing::allocated_bytes;
using testing::Child;
using testing::own;
using testing::small_spec;
using testing::TempFolder;

void ignore(SlotId) {}

void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

constexpr sock_filter instruction(unsigned code, std::uint32_t value, std::uint8_t if_true,
                                  std::uint8_t if_false) {
  return {static_cast<std::uint16_t>(code), if_true, if_false, value};
}

// From now on the system call fails with `error` in this process where its third argument is `argument`.
void forbid(long system_call, std::uint32_t argument, std::uint32_t error) {
  std::vector<sock_filter> filter{
      instruction(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr), 0, 0),
      instruction(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(system_call), 0, 3),
      instruction(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args) + 16, 0, 0),
      instruction(BPF_JMP | BPF_JEQ | BPF_K, argument, 0, 1),
      instruction(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error, 0, 0),
      instruction(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0)};
  const sock_fprog program{static_cast<std::uint16_t>(filter.size()), filter.data()};
  require(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no_new_privs");
  require(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0, "seccomp");
}

void forbid_populating() { forbid(SYS_madvise, MADV_POPULATE_WRITE, EINVAL); }

TEST(KernelWithoutPopulating, AllocatesAllTheSameAndKeepsWhatSlotsHold) {
  const TempFolder folder;
  Child child([&](const Child::Line&) {
    forbid_populating();
    const RingOwner owner = own(folder.files(), small_spec());
    std::ranges::fill(owner.ring().slot(SlotId{1}), std::byte{7});
    owner.populate({}, ignore);
    require(allocated_bytes(folder.files().data) >= 4 * kSlotAlignment, "holes are left");
    const auto slot = owner.ring().slot(SlotId{1});
    require(std::all_of(slot.begin(), slot.end(), [](std::byte b) { return b == std::byte{7}; }),
            "overwritten");
  });
  EXPECT_EQ(child.join(), 0);
}

TEST(KernelWithoutPopulating, SaysThatThereIsNoRoomInsteadOfDying) {
  const testing::MountedFolder mount("tmpfs", "size=8m");
  if (!mount.problem().empty()) GTEST_SKIP() << mount.problem();
  Child child([&](const Child::Line&) {
    forbid_populating();
    const RingOwner owner = own(mount.files(), small_spec(2));
    mount.fill();
    try {
      owner.populate({}, ignore);
    } catch (const std::system_error& error) {
      require(error.code() == std::errc::no_space_on_device, "another error");
      return;
    }
    throw std::runtime_error("no error");
  });
  EXPECT_EQ(child.join(), 0);
}

TEST(ContainerWithoutNumaRights, GetsItsMemoryAndTheReason) {
  const TempFolder folder;
  Child child([&](const Child::Line&) {
    forbid(SYS_mbind, 1 /* MPOL_PREFERRED */, EPERM);
    const RingOwner owner = own(folder.files(), small_spec());
    const PopulateReport report = owner.populate({0}, ignore);
    require(report.numa_error == std::errc::operation_not_permitted, "no reason");
    require(allocated_bytes(folder.files().data) >= 4 * kSlotAlignment, "no memory");
  });
  EXPECT_EQ(child.join(), 0);
}

TEST(ProducerKilledWhilePopulating, IsFollowedByOneThatPopulatesTheRest) {
  const TempFolder folder;
  Child first([&](const Child::Line& line) {
    own(folder.files(), small_spec(8)).populate({}, [&](SlotId) {
      line.say('r');
      (void)line.hear();
    });
  });
  ASSERT_EQ(first.hear(), 'r');
  first.kill_now();
  const RingOwner second = own(folder.files(), small_spec(8));
  EXPECT_TRUE(second.taken_over());
  std::size_t ready = 0;
  second.populate({}, [&](SlotId) { ++ready; });
  EXPECT_EQ(ready, 8U);
  EXPECT_GE(allocated_bytes(folder.files().data), 8 * kSlotAlignment);
}

}  // namespace
}  // namespace tailrace
