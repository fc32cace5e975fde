#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "producer/device.hpp"
#include "producer/input_pipeline.hpp"
#include "shm/counters.hpp"

namespace tailrace {

/// Input batches on their way to the device, some ahead of the one that the model gets, so that it never
/// waits for the link. Used by the model's thread.
class UploadQueue {
 public:
  /// Input batches that the queue holds at once: what InputPipelineOptions::held must allow. The one that the
  /// model gets, and with a GPU two ahead of it.
  static std::size_t held(const Device& device) { return device.is_cuda() ? 3 : 1; }

  /// Everything outlives the queue. Throws OutOfDeviceMemory, CudaError.
  UploadQueue(InputPipeline& input, Device& device, CounterBlock& counters);
  UploadQueue(const UploadQueue&) = delete;
  UploadQueue& operator=(const UploadQueue&) = delete;
  ~UploadQueue();

  /// As InputPipeline.
  [[nodiscard]] std::optional<BatchNumber> first_from(BatchNumber batch) const {
    return input_->first_from(batch);
  }

  /// The next batch; the caller's until finish(). Null: the input is at its end, or was stopped. Waits for
  /// decoding. Throws what a decode worker threw, CudaError.
  const InputBatch* next();
  /// Where the batch that next() gave lies on the device, for work that is enqueued from now on.
  std::span<const std::byte> on_device();
  /// All work that reads the batch has been enqueued; on the CPU, it has ended.
  void finish();

 private:
  struct Lane {
    const InputBatch* batch = nullptr;  // whose bytes the last copy reads; held until that has ended
    bool copying = false;
  };

  const InputBatch* await_input();
  void await_upload(std::size_t lane);
  void upload(const InputBatch& batch);
  void vacate(std::size_t lane);
  [[nodiscard]] std::size_t device_lane(std::size_t lane) const { return resident_ ? 0 : lane; }

  InputPipeline* input_;
  CounterBlock* counters_;
  bool keeps_fixed_;       // a batch that is the same every time is copied once
  bool resident_ = false;  // and lane 0 has it
  std::vector<Lane> lanes_;
  std::deque<std::size_t> uploaded_;  // lanes in order of their batches; the front one is the caller's
  std::size_t next_lane_ = 0;
  std::unique_ptr<Uploader> uploader_;
};

}  // namespace tailrace
