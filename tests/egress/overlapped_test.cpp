#include "producer/egress/overlapped.hpp"

#include <gmock/gmock.h>

#include <condition_variable>
#include <cstring>
#include <deque>
#include <future>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "producer/errors.hpp"
#include "tests/producer/stub_device.hpp"
#include "tests/shm/support.hpp"

namespace tailrace {
namespace {

constexpr std::chrono::milliseconds kCopyTime{70};

/// A device whose copies end when the test says so.
class GatedDevice final : public StubDevice {
 public:
  std::unique_ptr<Copier> make_copier(CopyStream, std::size_t) override {
    return std::make_unique<GatedCopier>(*this);
  }

  /// Lets the next `count` submissions end.
  void open(std::size_t count) {
    const std::lock_guard lock(mutex_);
    open_ += count;
    changed_.notify_all();
  }
  /// The copies that are waited for next fail.
  void fail() {
    const std::lock_guard lock(mutex_);
    failed_ = true;
    changed_.notify_all();
  }

 private:
  class GatedCopier final : public Copier {
   public:
    explicit GatedCopier(GatedDevice& device) : device_(device) {}
    void submit(std::size_t, std::span<const DeviceCopy> copies) override {
      const std::lock_guard lock(device_.mutex_);
      device_.submitted_.emplace_back(copies.begin(), copies.end());
    }
    bool has_ended(std::size_t) override {
      const std::lock_guard lock(device_.mutex_);
      if (device_.failed_ || device_.open_ == 0) return false;
      take_front();
      return true;
    }
    void wait(std::size_t) override {
      std::unique_lock lock(device_.mutex_);
      device_.changed_.wait(lock, [&] { return device_.failed_ || device_.open_ > 0; });
      if (device_.failed_) throw CudaError("an illegal memory access was encountered");
      take_front();
    }

    std::chrono::nanoseconds took(std::size_t) override { return kCopyTime; }

   private:
    void take_front() {
      --device_.open_;
      for (const DeviceCopy& copy : device_.submitted_.front())
        std::memcpy(copy.destination.data(), copy.source, copy.destination.size());
      device_.submitted_.pop_front();
    }

    GatedDevice& device_;
  };

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::vector<DeviceCopy>> submitted_;
  std::size_t open_ = 0;
  bool failed_ = false;
};

class Overlapped : public ::testing::Test {
 protected:
  Overlapped()
      : owner_(testing::own(folder_.files(), spec())),
        janitor_(owner_.ring(), kProducerId, {}),
        free_(owner_.ring(), janitor_, std::chrono::nanoseconds(0), BatchSeq{1}),
        slots_(owner_.ring(), free_, [] { return false; }) {}

  static RingSpec spec() {
    RingSpec spec = testing::small_spec(8);
    spec.groups = {{"one", 3}};
    return spec;
  }

  OverlappedEgress egress(std::chrono::nanoseconds spin = {}) {
    return {owner_.ring(), slots_, device_, CopyStream::kEgress, spin};
  }

  /// A batch of one item whose one element is its number.
  OutputBatch batch(std::uint64_t number) {
    auto value = std::make_shared<std::uint64_t>(number);
    OutputTensor tensor{"out", {Dtype::kUint64, {1}, {1}}, true, value.get(), sizeof(std::uint64_t), value};
    OutputBatch made{BatchNumber{number}, std::vector<Row>(1), {std::move(tensor)}};
    made.rows[0].output_name = "x";
    last_ = value;
    return made;
  }

  [[nodiscard]] std::size_t count(ProducerState state) const {
    std::size_t count = 0;
    for (std::uint32_t s = 0; s < 8; ++s)
      count += owner_.ring().protocol().producer_word(SlotId{s}).state == state ? 1 : 0;
    return count;
  }

  /// Values of all published batches, in the order in which a consumer gets them.
  std::vector<std::uint64_t> consume() {
    std::vector<std::uint64_t> values;
    const auto me = Participant::join(owner_.ring(), GroupId{0});
    ReadyQueue queue(owner_.ring(), GroupId{0}, *me, janitor_, std::chrono::nanoseconds(0));
    for (Lease lease; queue.try_lease(lease) == LeaseOutcome::kLeased;) {
      std::uint64_t value = 0;
      std::memcpy(&value, read_descriptor(lease.bytes()).tensors.at(0).bytes.data(), sizeof value);
      values.push_back(value);
      lease.commit();
    }
    return values;
  }

  testing::TempFolder folder_;
  RingOwner owner_;
  Janitor janitor_;
  FreeQueue free_;
  SlotSource slots_;
  GatedDevice device_;
  std::weak_ptr<std::uint64_t> last_;
};

TEST_F(Overlapped, PublishesABatchWhenItsCopyHasEndedAndNotBefore) {
  auto egress = this->egress();
  ASSERT_TRUE(egress.submit(batch(7)));
  EXPECT_EQ(count(ProducerState::kReady), 0U);
  EXPECT_EQ(count(ProducerState::kFilling), 1U);
  device_.open(1);
  egress.drain();
  EXPECT_THAT(consume(), ::testing::ElementsAre(7));
}

TEST_F(Overlapped, RecordsHowLongTheCopyTookAndNotWhatItWaitedFor) {
  auto egress = this->egress();
  device_.open(2);
  for (std::uint64_t number = 0; number < 2; ++number) ASSERT_TRUE(egress.submit(batch(number)));
  egress.drain();
  const HistogramRecord& copies =
      owner_.ring().producer().counters.stages[static_cast<std::size_t>(Stage::kEgressCopy)];
  EXPECT_EQ(std::chrono::nanoseconds(copies.sum_ns), 2 * kCopyTime);
}

TEST_F(Overlapped, CountsTheTimeInWhichTheProducerWaitsForTheDevice) {
  const CounterBlock& counters = owner_.ring().producer().counters;
  auto egress = this->egress();
  ASSERT_TRUE(egress.submit(batch(0)));
  EXPECT_EQ(counters.get(Counter::kStallComputeNs), 0U);
  auto drained = std::async(std::launch::async, [&] { egress.drain(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // what is to be counted
  device_.open(1);
  drained.get();
  EXPECT_GT(counters.get(Counter::kStallComputeNs), 0U);
}

TEST_F(Overlapped, PublishesInTheOrderOfSubmission) {
  auto egress = this->egress();
  device_.open(6);
  for (std::uint64_t number = 0; number < 6; ++number) ASSERT_TRUE(egress.submit(batch(number)));
  egress.drain();
  EXPECT_THAT(consume(), ::testing::ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST_F(Overlapped, PublishesAlsoWhatItLooksForBusily) {
  auto egress = this->egress(std::chrono::microseconds(50));
  for (std::uint64_t number = 0; number < 3; ++number) ASSERT_TRUE(egress.submit(batch(number)));
  device_.open(3);
  egress.drain();
  EXPECT_THAT(consume(), ::testing::ElementsAre(0, 1, 2));
}

TEST_F(Overlapped, DoesNotWaitAsLongForEveryCopyAsForOneThatWasSlow) {
  auto egress = this->egress(std::chrono::microseconds(50));
  ASSERT_TRUE(egress.submit(batch(0)));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // what makes it slow
  device_.open(1);
  egress.drain();
  for (std::uint64_t number = 1; number < 300;
       ++number) {  // 90 s, were each as slow: the test would be ended
    device_.open(1);
    ASSERT_TRUE(egress.submit(batch(number)));
    egress.drain();
    ASSERT_EQ(consume().back(), number);
  }
}

TEST_F(Overlapped, KeepsWhatACopyReadsUntilItHasEnded) {
  auto egress = this->egress();
  ASSERT_TRUE(egress.submit(batch(1)));
  EXPECT_FALSE(last_.expired());
  device_.open(1);
  egress.drain();
  EXPECT_TRUE(last_.expired());
}

TEST_F(Overlapped, PublishesNothingAfterAFailedCopyAndTellsTheProducer) {
  {
    auto egress = this->egress();
    ASSERT_TRUE(egress.submit(batch(1)));
    ASSERT_TRUE(egress.submit(batch(2)));
    device_.fail();
    EXPECT_THAT([&] { egress.drain(); },
                ::testing::ThrowsMessage<CudaError>(::testing::StartsWith("batch 1: ")))
        << "the oldest in flight";
    EXPECT_THROW((void)egress.submit(batch(3)), CudaError);
  }
  EXPECT_EQ(count(ProducerState::kReady), 0U);
  EXPECT_EQ(count(ProducerState::kFilling), 2U)
      << "the copies may still be running: the successor frees the slots";
}

TEST_F(Overlapped, RunsOnlySoFarAhead) {
  auto egress = this->egress();
  for (std::size_t i = 0; i + 1 < EgressStrategy::kMaxHeld; ++i) ASSERT_TRUE(egress.submit(batch(i)));
  auto next = std::async(std::launch::async, [&] { return egress.submit(batch(9)); });
  EXPECT_EQ(count(ProducerState::kFilling), EgressStrategy::kMaxHeld - 1);
  device_.open(EgressStrategy::kMaxHeld);
  EXPECT_TRUE(next.get());
  egress.drain();
  EXPECT_EQ(consume().size(), EgressStrategy::kMaxHeld);
}

}  // namespace
}  // namespace tailrace
