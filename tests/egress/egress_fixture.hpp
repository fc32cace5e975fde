#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "producer/device.hpp"
#include "producer/egress/slot_source.hpp"
#include "producer/egress/strategy.hpp"
#include "producer/errors.hpp"
#include "tests/producer/stub_device.hpp"
#include "tests/shm/support.hpp"

namespace tailrace::testing {

/// A GPU whose memory is the host's; a test may have its copies and pins fail.
class FakeGpu final : public StubDevice {
 public:
  [[nodiscard]] bool is_cuda() const override { return cuda; }
  [[nodiscard]] int numa_node() const override { return node; }
  void copy_to_host(std::span<std::byte> destination, const void* source) override {
    if (copies_fail) throw CudaError("an illegal memory access was encountered");
    std::memcpy(destination.data(), source, destination.size());
  }
  std::unique_ptr<Pin> pin(std::span<std::byte> memory) override {
    ++pins_tried;
    if (pinned.size() == can_pin)
      throw CannotPin("cannot pin " + std::to_string(memory.size()) + " bytes: no more");
    return std::make_unique<FakePin>(pinned, memory.data());
  }

  bool cuda = true;
  int node = -1;
  bool copies_fail = false;
  std::size_t can_pin = SIZE_MAX;
  std::size_t pins_tried = 0;
  std::set<const std::byte*> pinned;  // at present

 private:
  class FakePin final : public Pin {
   public:
    FakePin(std::set<const std::byte*>& pinned, const std::byte* memory) : pinned_(pinned), memory_(memory) {
      pinned_.insert(memory_);
    }
    ~FakePin() override { pinned_.erase(memory_); }

   private:
    std::set<const std::byte*>& pinned_;
    const std::byte* memory_;
  };
};

/// A ring of one group with a producer, and a consumer that looks at what comes out.
class EgressRing {
 public:
  EgressRing(const RingFiles& files, std::uint32_t slot_count, std::uint64_t slot_bytes = 64 << 10)
      : owner(own(files, spec(slot_count, slot_bytes))),
        janitor(owner.ring(), kProducerId, {}),
        free(owner.ring(), janitor, std::chrono::nanoseconds(0), owner.start().next_seq),
        slots(owner.ring(), free, [this] { return stop; }) {}

  /// Leases, hands over and commits what is published.
  void consume(const std::function<void(const BatchView&)>& look) {
    const auto me = Participant::join(owner.ring(), GroupId{0});
    ReadyQueue queue(owner.ring(), GroupId{0}, *me, janitor, std::chrono::nanoseconds(0));
    for (Lease lease; queue.try_lease(lease) == LeaseOutcome::kLeased;) {
      look(read_descriptor(lease.bytes()));
      lease.commit();
    }
  }

  [[nodiscard]] SlotCounts count() const { return owner.ring().protocol().count(GroupId{0}); }

  RingOwner owner;
  Janitor janitor;
  FreeQueue free;
  bool stop = false;
  SlotSource slots;

 private:
  static RingSpec spec(std::uint32_t slot_count, std::uint64_t slot_bytes) {
    RingSpec made = small_spec(slot_count);
    made.groups = {{"one", 3}};
    made.slot_bytes = slot_bytes;
    return made;
  }
};

/// A batch of `rows` items with one tensor of so many bytes each, all of them `value`.
inline OutputBatch byte_batch(std::uint64_t number, std::int64_t rows, std::int64_t bytes,
                              std::uint8_t value) {
  auto data = std::make_shared<std::vector<std::uint8_t>>(rows * bytes, value);
  OutputTensor tensor{"out", {Dtype::kUint8, {rows, bytes}, {bytes, 1}}, true, data->data(), data->size(),
                      data};
  OutputBatch batch{
      BatchNumber{number}, std::vector<Row>(static_cast<std::size_t>(rows)), {std::move(tensor)}};
  for (Row& row : batch.rows) row.output_name = "x";
  return batch;
}

}  // namespace tailrace::testing
