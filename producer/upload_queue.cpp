#include "producer/upload_queue.hpp"

#include <exception>

#include "os/clock.hpp"

namespace tailrace {

UploadQueue::UploadQueue(InputPipeline& input, Device& device, CounterBlock& counters)
    : input_(&input),
      counters_(&counters),
      keeps_fixed_(device.is_cuda()),
      lanes_(held(device)),
      uploader_(device.make_uploader(input.batch_bytes(), lanes_.size())) {}

UploadQueue::~UploadQueue() {
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    try {
      vacate(lane);
    } catch (const std::exception&) {
      // The copy failed; whoever computed with it has heard of it, and nobody reads the buffer any more.
    }
  }
}

const InputBatch* UploadQueue::next() {
  while (uploaded_.size() < lanes_.size()) {
    vacate(next_lane_);
    const InputBatch* batch = uploaded_.empty() ? await_input() : input_->try_next();
    if (batch == nullptr) break;
    upload(*batch);
  }
  return uploaded_.empty() ? nullptr : lanes_[uploaded_.front()].batch;
}

std::span<const std::byte> UploadQueue::on_device() {
  return uploader_->acquire(device_lane(uploaded_.front()));
}

void UploadQueue::finish() {
  uploader_->release(device_lane(uploaded_.front()));
  uploaded_.pop_front();
}

void UploadQueue::upload(const InputBatch& batch) {
  Lane& lane = lanes_[next_lane_];
  lane.batch = &batch;
  if (!resident_) {
    uploader_->submit(next_lane_, batch.bytes);
    lane.copying = true;
  }
  resident_ = resident_ || (keeps_fixed_ && batch.resident);
  uploaded_.push_back(next_lane_);
  next_lane_ = (next_lane_ + 1) % lanes_.size();
}

const InputBatch* UploadQueue::await_input() {
  const std::uint64_t start_ns = monotonic_ns();
  const InputBatch* batch = input_->next();
  const std::uint64_t waited_ns = monotonic_ns() - start_ns;
  counters_->record(Stage::kInputWait, waited_ns);
  counters_->add(Counter::kStallInputNs, waited_ns);
  return batch;
}

void UploadQueue::await_upload(std::size_t lane) {
  const std::uint64_t start_ns = monotonic_ns();
  counters_->record(Stage::kUpload, static_cast<std::uint64_t>(uploader_->wait(lane).count()));
  counters_->add(Counter::kStallComputeNs, monotonic_ns() - start_ns);
}

void UploadQueue::vacate(std::size_t lane) {
  Lane& old = lanes_[lane];
  if (old.batch == nullptr) return;
  if (old.copying) await_upload(lane);
  old.copying = false;
  input_->release(*old.batch);
  old.batch = nullptr;
}

}  // namespace tailrace
