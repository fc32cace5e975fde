#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "producer/egress/pool.hpp"
#include "producer/egress/workers.hpp"
#include "tests/egress/egress_fixture.hpp"
#include "tests/shm/mounted_folder.hpp"

namespace tailrace {
namespace {

using testing::allocated_bytes;
using testing::byte_batch;
using testing::EgressRing;
using testing::FakeGpu;
using ::testing::HasSubstr;
using testing::TempFolder;

/// What a consumer gets, as text that can be compared: all of a batch but its time stamps.
std::vector<std::string> results(EgressRing& ring) {
  std::vector<std::string> texts;
  ring.consume([&](const BatchView& batch) {
    std::string text = std::to_string(value_of(batch.number)) + ":" + std::to_string(batch.rows.size());
    for (const TensorView& tensor : batch.tensors)
      text += " " + tensor.name + " " +
              std::string(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
    texts.push_back(text);
  });
  return texts;
}

template <typename Strategy>
std::vector<std::string> results_of_strategy() {
  const TempFolder folder;
  EgressRing ring(folder.files(), 2);
  FakeGpu device;
  Strategy egress(ring.owner.ring(), ring.slots, device);
  std::vector<std::string> all;
  for (std::uint8_t number = 0; number < 7;
       ++number) {  // slots are used again, by smaller and larger batches
    EXPECT_TRUE(egress.submit(byte_batch(number, 1 + number % 3, 1000 * (7 - number), 'a' + number)));
    for (std::string& text : results(ring)) all.push_back(std::move(text));
  }
  return all;
}

TEST(Workers, GiveConsumersWhatPoolGivesThem) {
  const auto expected = results_of_strategy<PoolEgress>();
  ASSERT_EQ(expected.size(), 7U);
  EXPECT_EQ(results_of_strategy<WorkersEgress>(), expected);
}

TEST(Workers, MakeTheMemoryOfEachBatchAnew) {
  const TempFolder folder;
  EgressRing ring(folder.files(), 1);
  FakeGpu device;
  WorkersEgress egress(ring.owner.ring(), ring.slots, device);
  ASSERT_TRUE(egress.submit(byte_batch(0, 1, 60'000, 0xff)));
  ASSERT_EQ(results(ring).size(), 1U);
  const std::uint64_t large = allocated_bytes(folder.files().data);
  ASSERT_TRUE(egress.submit(byte_batch(1, 1, 10, 0xff)));
  EXPECT_LT(allocated_bytes(folder.files().data), large);
  const auto rest = ring.owner.ring().slot(SlotId{0}).subspan(8192);  // descriptor, tensor
  EXPECT_TRUE(std::all_of(rest.begin(), rest.end(), [](std::byte b) { return b == std::byte{0}; }))
      << "of the batch before";
}

TEST(Workers, LeaveTheSlotsOfOtherBatchesAlone) {
  const TempFolder folder;
  EgressRing ring(folder.files(), 3);
  FakeGpu device;
  WorkersEgress egress(ring.owner.ring(), ring.slots, device);
  for (std::uint8_t number = 0; number < 3; ++number)
    ASSERT_TRUE(egress.submit(byte_batch(number, 1, 9000, 'a' + number)));
  const auto texts = results(ring);
  ASSERT_EQ(texts.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_THAT(texts[i], HasSubstr(std::string(9000, static_cast<char>('a' + i))));
}

TEST(Workers, SayThatThereIsNoRoomAndGiveTheSlotUp) {
  const testing::MountedFolder mount("tmpfs", "size=8m");
  if (!mount.problem().empty()) GTEST_SKIP() << mount.problem();
  EgressRing ring(mount.files(), 2);
  FakeGpu device;
  WorkersEgress egress(ring.owner.ring(), ring.slots, device);
  mount.fill();
  try {
    (void)egress.submit(byte_batch(0, 1, 60'000, 1));
    FAIL() << "no error";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::no_space_on_device);
    EXPECT_THAT(error.what(), HasSubstr("bytes are free"));
  }
  EXPECT_EQ(ring.count().free, 2U);
  std::filesystem::remove(mount.path() / "filler");
  EXPECT_TRUE(egress.submit(byte_batch(0, 1, 60'000, 1)));
  EXPECT_EQ(results(ring).size(), 1U);
}

template <typename Strategy>
class Synchronous : public ::testing::Test {
 protected:
  TempFolder folder;
  EgressRing ring{folder.files(), 2};
  FakeGpu device;
  Strategy egress{ring.owner.ring(), ring.slots, device};
};

using Strategies = ::testing::Types<PoolEgress, WorkersEgress>;
TYPED_TEST_SUITE(Synchronous, Strategies, );

TYPED_TEST(Synchronous, LeavesTheSlotOfAFailedCopyToTheNextProducer) {
  this->device.copies_fail = true;
  EXPECT_THROW((void)this->egress.submit(byte_batch(0, 1, 100, 1)), CudaError);
  EXPECT_EQ(this->ring.count().filling, 1U);
  EXPECT_EQ(this->ring.count().ready, 0U);
}

TYPED_TEST(Synchronous, GivesTheSlotUpThatABatchDoesNotFitInto) {
  EXPECT_THROW((void)this->egress.submit(byte_batch(0, 1, 65'000, 1)), SlotTooSmall);
  EXPECT_EQ(this->ring.count().free, 2U);
}

TYPED_TEST(Synchronous, GivesUpWhenAStopIsAskedFor) {
  this->ring.stop = true;
  EXPECT_FALSE(this->egress.submit(byte_batch(0, 1, 100, 1)));
  EXPECT_EQ(this->ring.count().free, 2U);
}

}  // namespace
}  // namespace tailrace
