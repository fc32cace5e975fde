// A ring of which one slot cannot be registered with CUDA because it is already.
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <sstream>

#include "producer/cuda/cpu_device.hpp"
#include "producer/egress/overlapped.hpp"
#include "producer/egress/ring_memory.hpp"
#include "tests/egress/egress_fixture.hpp"
#include "tests/gpu/device_under_test.hpp"

namespace tailrace {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using testing::EgressRing;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// What CUDA does with registrations, on the CPU.
class RegisteringCpu final : public StubDevice {
 public:
  void copy_to_host(std::span<std::byte> destination, const void* source) override {
    cpu_.copy_to_host(destination, source);
  }
  std::unique_ptr<Copier> make_copier(CopyStream stream, std::size_t lane_count) override {
    return cpu_.make_copier(stream, lane_count);
  }
  std::unique_ptr<Uploader> make_uploader(std::size_t lane_bytes, std::size_t lane_count) override {
    return cpu_.make_uploader(lane_bytes, lane_count);
  }
  std::unique_ptr<Pin> pin(std::span<std::byte> memory) override {
    return std::make_unique<Registration>(registered_, memory.data());
  }

 private:
  class Registration final : public Pin {
   public:
    Registration(std::set<std::byte*>& registered, std::byte* memory)
        : registered_(&registered), memory_(memory) {
      if (!registered.insert(memory).second) throw CannotPin("cannot pin: it is already");
    }
    ~Registration() override { registered_->erase(memory_); }

   private:
    std::set<std::byte*>* registered_;
    std::byte* memory_;
  };

  CpuDevice cpu_;
  std::set<std::byte*> registered_;
};

class RegisteredSlot : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kSlots = 4;
  static constexpr SlotId kRegistered{2};
  static constexpr std::int64_t kBytes = 40'000;

  RegisteredSlot() {
    const auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(log_);
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", sink));
  }
  ~RegisteredSlot() override { spdlog::set_default_logger(before_); }
  void SetUp() override {
    if (const std::string why = missing_device(); !why.empty()) GTEST_SKIP() << why;
    if (tests_cuda())
      device_ = make_device({DeviceConfig::Kind::kCuda, 0});
    else
      device_ = std::make_unique<RegisteringCpu>();
    other_pin_ = device_->pin(ring().slot(kRegistered));
  }

  [[nodiscard]] const Ring& ring() const { return egress_ring_.owner.ring(); }
  void pin_all(PinnedSlots& pins) const {
    for (std::uint32_t s = 0; s < kSlots; ++s) pins.pin(SlotId{s});
  }

  /// A batch of one row whose bytes, all `value`, are on the device.
  [[nodiscard]] OutputBatch batch_on_device(std::uint64_t number, std::uint8_t value) const {
    OutputBatch batch = testing::byte_batch(number, 1, kBytes, value);
    OutputTensor& tensor = batch.tensors[0];
    const std::span host(static_cast<const std::byte*>(tensor.data), tensor.span_bytes);
    const std::shared_ptr<Uploader> uploader = device_->make_uploader(host.size(), 1);
    uploader->submit(0, host);
    tensor.data = uploader->acquire(0).data();
    uploader->wait(0);
    tensor.keep_alive = std::make_shared<std::pair<std::shared_ptr<void>, std::shared_ptr<Uploader>>>(
        tensor.keep_alive, uploader);
    return batch;
  }

  /// Sends batches through the ring, more than it has slots; the byte that each consists of, as it came out.
  std::vector<int> send_batches(std::uint64_t count) {
    OverlappedEgress egress(ring(), egress_ring_.slots, *device_, CopyStream::kEgress,
                            std::chrono::nanoseconds(0));
    std::vector<int> values;
    for (std::uint64_t number = 0; number < count; ++number) {
      EXPECT_TRUE(egress.submit(batch_on_device(number, static_cast<std::uint8_t>(number + 1))));
      egress.drain();
      egress_ring_.consume([&](const BatchView& batch) {
        const auto bytes = batch.tensors.at(0).bytes;
        EXPECT_EQ(bytes.size(), static_cast<std::size_t>(kBytes));
        EXPECT_THAT(bytes, Each(bytes[0]));
        values.push_back(std::to_integer<int>(bytes[0]));
      });
    }
    return values;
  }

  [[nodiscard]] std::string log() const { return log_.str(); }

  testing::TempFolder folder_;
  EgressRing egress_ring_{folder_.files(), kSlots};
  std::unique_ptr<Device> device_;
  std::unique_ptr<Pin> other_pin_;  // somebody else's

 private:
  std::ostringstream log_;
  std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
};

TEST_F(RegisteredSlot, LeavesNoSlotPinned) {
  PinnedSlots pins(ring(), *device_);
  pin_all(pins);
  EXPECT_EQ(pins.count(), 0U);
  EXPECT_THAT(pins.failure(), AllOf(HasSubstr("cannot pin"), HasSubstr("already"), HasSubstr("slot 3 of 4")));
}

TEST_F(RegisteredSlot, IsNoObstacleOnceItIsReleased) {
  PinnedSlots failed(ring(), *device_);
  pin_all(failed);
  other_pin_.reset();
  PinnedSlots pins(ring(), *device_);
  pin_all(pins);
  EXPECT_EQ(pins.count(), kSlots);
  EXPECT_THAT(pins.failure(), IsEmpty());
}

TEST_F(RegisteredSlot, LeavesNoErrorBehind) {
  PinnedSlots pins(ring(), *device_);
  pin_all(pins);
  if (tests_cuda()) {
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  }
  const OutputBatch batch = batch_on_device(0, 77);
  std::vector<std::byte> host(batch.tensors[0].span_bytes);
  device_->copy_to_host(host, batch.tensors[0].data);
  EXPECT_THAT(host, Each(std::byte{77}));
}

TEST_F(RegisteredSlot, LeavesARingThatIsNotPinnedAndWorks) {
  const RingMemory memory(egress_ring_.owner, EgressStrategyKind::kStreams, *device_);
  EXPECT_EQ(ring().producer().gauges.slots_pinned, 0U);
  EXPECT_THAT(log(), AllOf(HasSubstr("[warning] the ring is NOT PINNED, copies will not overlap: cannot pin"),
                           HasSubstr(", NOT PINNED\n")));
  EXPECT_EQ(send_batches(6), (std::vector{1, 2, 3, 4, 5, 6}));
}

TEST_F(RegisteredSlot, ThatIsReleasedLeavesARingThatIsPinnedAndWorks) {
  other_pin_.reset();
  const RingMemory memory(egress_ring_.owner, EgressStrategyKind::kStreams, *device_);
  EXPECT_EQ(ring().producer().gauges.slots_pinned, kSlots);
  EXPECT_EQ(send_batches(6), (std::vector{1, 2, 3, 4, 5, 6}));
}

}  // namespace
}  // namespace tailrace
