#include "producer/cuda/cuda_uploader.hpp"

#include <string>

#include "producer/cuda/cuda_check.hpp"

namespace tailrace {

CudaUploader::CudaUploader(CudaStreamView compute, std::size_t lane_bytes, std::size_t lane_count)
    : compute_(compute) {
  for (std::size_t i = 0; i < lane_count; ++i) lanes_.push_back(std::make_unique<Lane>(lane_bytes));
}

void CudaUploader::submit(std::size_t lane, std::span<const std::byte> input) {
  Lane& to = *lanes_[lane];
  to.used_bytes = input.size();
  to.read.hold_back(prefetch_.view());
  to.begun.record(prefetch_.view());
  if (!input.empty())
    check(cudaMemcpyAsync(to.memory.data(), input.data(), input.size(), cudaMemcpyHostToDevice,
                          prefetch_.view().handle()),
          "cannot copy " + std::to_string(input.size()) + " bytes to the GPU");
  to.arrived.record(prefetch_.view());
}

std::span<const std::byte> CudaUploader::acquire(std::size_t lane) {
  const Lane& from = *lanes_[lane];
  from.arrived.hold_back(compute_);
  return {from.memory.data(), from.used_bytes};
}

void CudaUploader::release(std::size_t lane) { lanes_[lane]->read.record(compute_); }

std::chrono::nanoseconds CudaUploader::wait(std::size_t lane) {
  const Lane& copied = *lanes_[lane];
  copied.arrived.synchronize();
  return copied.arrived.since(copied.begun);
}

}  // namespace tailrace
