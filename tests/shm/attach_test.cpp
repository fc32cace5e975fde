#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <random>

#include "tests/shm/support.hpp"

namespace tailrace {
namespace {

using ::testing::HasSubstr;
using testing::small_spec;
using testing::TempFolder;

/// A ring without a producer, whose control header the test may scribble over.
class Attaching : public ::testing::Test {
 protected:
  Attaching() { (void)testing::own(files, small_spec()); }

  template <typename T>
  void poke(std::size_t offset, T value) const {
    const UniqueFd fd(open(files.control.c_str(), O_WRONLY | O_CLOEXEC));
    ASSERT_EQ(pwrite(fd.get(), &value, sizeof value, static_cast<off_t>(offset)),
              static_cast<ssize_t>(sizeof value));
  }
  void expect(AttachState state, const std::string& detail) const {
    for (const RingAccess access : {RingAccess::kObserver, RingAccess::kConsumer, RingAccess::kProducer}) {
      const AttachAnswer answer = attach_ring(files, access);
      EXPECT_EQ(static_cast<int>(answer.state), static_cast<int>(state)) << answer.detail;
      EXPECT_THAT(answer.detail, HasSubstr(detail));
      EXPECT_EQ(answer.ring.has_value(), state == AttachState::kReady || state == AttachState::kRetired);
    }
  }

  TempFolder folder;
  RingFiles files = folder.files();
  ControlOffsets at = control_offsets(4, 2);
};

TEST_F(Attaching, FindsAReadyRingAndItsGeometry) {
  expect(AttachState::kReady, "");
  const Ring ring = testing::attach(files, RingAccess::kConsumer);
  EXPECT_EQ(ring.geometry().name, "test");
  EXPECT_EQ(ring.geometry().slot_count, 4U);
  EXPECT_EQ(ring.geometry().slot_bytes, 64U << 10);
  EXPECT_EQ(ring.geometry().groups, small_spec().groups);
  EXPECT_EQ(ring.geometry().job_digest, 42U);
  EXPECT_EQ(ring.geometry().boot_id, current_boot_id());
  EXPECT_EQ(ring.find_group("two"), GroupId{1});
  EXPECT_EQ(ring.find_group("three"), std::nullopt);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(ring.slot(SlotId{3}).data()) % 4096, 0U);
  EXPECT_TRUE(ring.names_intact());
}

TEST_F(Attaching, SaysAbsentWithoutAControlFile) {
  unlink(files.control.c_str());
  expect(AttachState::kAbsent, files.control.string());
}

TEST_F(Attaching, SaysInitialisingBeforeTheVersionIsStored) {
  poke(8, std::uint32_t{0});
  expect(AttachState::kInitialising, "being made");
}

TEST_F(Attaching, SaysInitialisingForAPairOfTwoRings) {
  poke(16, std::uint64_t{12345});
  expect(AttachState::kInitialising, "another ring");
}

TEST_F(Attaching, SaysInitialisingWithoutADataFileToThoseWhoNeedIt) {
  unlink(files.data.c_str());
  EXPECT_EQ(attach_ring(files, RingAccess::kConsumer).state, AttachState::kInitialising);
  EXPECT_EQ(attach_ring(files, RingAccess::kProducer).state, AttachState::kInitialising);
  EXPECT_EQ(attach_ring(files, RingAccess::kObserver).state, AttachState::kReady);
}

TEST_F(Attaching, SaysRetired) {
  poke(256, RingState::kRetired);
  expect(AttachState::kRetired, "");
}

TEST_F(Attaching, SaysBothVersionsOfAnotherLayout) {
  poke(8, std::uint32_t{kLayoutVersion + 6});
  expect(AttachState::kIncompatible, "layout version " + std::to_string(kLayoutVersion + 6));
  expect(AttachState::kIncompatible, "knows version " + std::to_string(kLayoutVersion));
}

TEST_F(Attaching, SaysIncompatibleForForeignFiles) {
  poke(0, std::uint64_t{1});
  expect(AttachState::kIncompatible, "is not a ring's");
}

TEST_F(Attaching, SaysIncompatibleForAForeignDataFile) {
  std::fstream(files.data, std::ios::in | std::ios::out) << "something";
  expect(AttachState::kIncompatible, files.data.string());
}

TEST_F(Attaching, NamesEachFieldWithAHostileValue) {
  struct Field {
    std::size_t offset;
    std::size_t size;
    std::vector<std::uint64_t> values;
    const char* name;
  };
  const std::vector<Field> fields{
      {12, 4, {0, kMaxSlots + 1, UINT32_MAX}, "slot_count"},
      {16, 8, {0}, "epoch"},
      {24, 8, {0, 55, UINT64_MAX, (2U << 20) + 1}, "slot_bytes"},
      {32, 8, {0, 1, UINT64_MAX, UINT64_MAX << 21}, "slot_stride"},
      {40, 8, {0, 448, UINT64_MAX}, "control_bytes"},
      {48, 8, {0, UINT64_MAX}, "data_bytes"},
      {80, 4, {0, kMaxGroups + 1, UINT32_MAX}, "group_count"},
      {128, 8, {0, 0x2f2e2e /* "../" */}, "name"},
      {256, 4, {0, 4, UINT32_MAX}, "ring_state"},
      {at.groups + sizeof(GroupRecord), 8, {0, 0x2f2e2e}, "name of group 1"},
      {at.groups + 72, 4, {31, UINT32_MAX}, "max_attempts of group 0"},
  };
  for (const Field& field : fields) {
    std::uint64_t original = 0;
    const UniqueFd fd(open(files.control.c_str(), O_RDWR | O_CLOEXEC));
    ASSERT_EQ(pread(fd.get(), &original, field.size, static_cast<off_t>(field.offset)),
              static_cast<ssize_t>(field.size));
    for (const std::uint64_t value : field.values) {
      ASSERT_GT(pwrite(fd.get(), &value, field.size, static_cast<off_t>(field.offset)), 0);
      expect(AttachState::kIncompatible, field.name);
    }
    ASSERT_GT(pwrite(fd.get(), &original, field.size, static_cast<off_t>(field.offset)), 0);
  }
  expect(AttachState::kReady, "");
}

TEST_F(Attaching, SaysTooSmallForATruncatedControlFile) {
  for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{447}, at.total - 1}) {
    ASSERT_EQ(truncate(files.control.c_str(), static_cast<off_t>(bytes)), 0);
    if (bytes >= sizeof(ControlHeader)) continue;
    expect(AttachState::kTooSmall, "has " + std::to_string(bytes) + " bytes");
  }
}

TEST_F(Attaching, SaysTooSmallWithBothSizesForAControlFileThatEndsInItsTables) {
  ASSERT_EQ(truncate(files.control.c_str(), static_cast<off_t>(at.total - 1)), 0);
  expect(AttachState::kTooSmall,
         std::to_string(at.total - 1) + " bytes, its ring needs " + std::to_string(at.total));
}

TEST_F(Attaching, SaysTooSmallWithBothSizesForATruncatedDataFile) {
  const std::uint64_t wanted = data_file_bytes(4, kSlotAlignment);
  for (const std::uint64_t bytes : {wanted - 1, std::uint64_t{1}, std::uint64_t{0}}) {
    ASSERT_EQ(truncate(files.data.c_str(), static_cast<off_t>(bytes)), 0);
    expect(AttachState::kTooSmall,
           std::to_string(bytes) + " bytes, its ring needs " + std::to_string(wanted));
  }
}

TEST_F(Attaching, NeverFollowsASymbolicLinkNorOpensAFifo) {
  const auto real = folder.path() / "real";
  for (const auto& path : {files.control, files.data}) {
    std::filesystem::rename(path, real);
    std::filesystem::create_symlink(real, path);
    EXPECT_THROW((void)attach_ring(files, RingAccess::kConsumer), std::system_error);
    std::filesystem::remove(path);
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    EXPECT_THROW((void)attach_ring(files, RingAccess::kConsumer), std::system_error);
    std::filesystem::remove(path);
    std::filesystem::rename(real, path);
  }
  expect(AttachState::kReady, "");
}

TEST_F(Attaching, UsesItsCopyOfTheGeometryWhateverIsScribbledLater) {
  const Ring ring = testing::attach(files, RingAccess::kConsumer);
  const std::byte* const before = ring.slot(SlotId{3}).data();
  poke(12, UINT32_MAX);
  poke(24, UINT64_MAX);
  poke(32, UINT64_MAX);
  poke(80, UINT32_MAX);
  EXPECT_EQ(ring.slot(SlotId{3}).data(), before);
  EXPECT_EQ(ring.slot(SlotId{3}).size(), 64U << 10);
  EXPECT_EQ(ring.protocol().slot_count(), 4U);
}

TEST_F(Attaching, SurvivesRandomBytesInTheHeader) {
  std::ifstream in(files.control, std::ios::binary);
  const std::string good((std::istreambuf_iterator<char>(in)), {});
  std::mt19937 random(5);
  for (int round = 0; round < 2'000; ++round) {
    std::string bad = good;
    for (std::size_t i = random() % 8 + 1; i-- > 0;) {
      const std::size_t offset = random() % 4 == 0 ? at.groups + random() % 4096 : random() % 320;
      bad[offset] = static_cast<char>(random());
    }
    const UniqueFd fd(open(files.control.c_str(), O_WRONLY | O_CLOEXEC));
    ASSERT_EQ(pwrite(fd.get(), bad.data(), bad.size(), 0), static_cast<ssize_t>(bad.size()));
    const AttachAnswer answer = attach_ring(files, RingAccess::kConsumer);
    if (!answer.ring) continue;
    EXPECT_LE(answer.ring->slot(SlotId{answer.ring->geometry().slot_count - 1}).size(), 2U << 20);
    (void)answer.ring->protocol().find_damage(kMaxParticipants);
  }
}

TEST_F(Attaching, FiveHundredTimesLeavesDescriptorsAndMappingsFlat) {
  const auto count = [](const char* what) {
    std::size_t lines = 0;
    if (std::string(what) == "fd") {
      for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++lines;
      return lines;
    }
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);)
      if (line.find("tailrace-test") != std::string::npos) ++lines;
    return lines;
  };
  const auto cycle = [&] {
    const Ring ring = testing::attach(files, RingAccess::kConsumer);
    const auto participant = Participant::join(ring, GroupId{0});
    ASSERT_TRUE(participant);
    Janitor janitor(ring, participant->id(), {});
    ReadyQueue queue(ring, GroupId{0}, *participant, janitor, std::chrono::nanoseconds(0));
    Lease lease;
    EXPECT_EQ(queue.try_lease(lease), LeaseOutcome::kEmpty);
  };
  cycle();
  const std::size_t fds = count("fd");
  const std::size_t maps = count("maps");
  for (int i = 0; i < 500; ++i) cycle();
  EXPECT_EQ(count("fd"), fds);
  EXPECT_EQ(count("maps"), maps);
}

}  // namespace
}  // namespace tailrace
