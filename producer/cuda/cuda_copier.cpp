#include "producer/cuda/cuda_copier.hpp"

#include <string>

#include "producer/cuda/cuda_check.hpp"

namespace tailrace {

CudaCopier::CudaCopier(int device, CudaStreamView compute, CopyStream stream, std::size_t lane_count)
    : device_(device), compute_(compute), lanes_(lane_count), marks_(lane_count) {
  if (stream == CopyStream::kEgress) egress_.emplace();
}

void CudaCopier::submit(std::size_t lane, std::span<const DeviceCopy> copies) {
  const CudaStreamView stream = egress_ ? egress_->view() : compute_;
  // Two streams are ordered by the device, which takes microseconds: not where there is nothing to wait for.
  if (egress_ && !compute_.is_idle()) {
    computed_.record(compute_);
    computed_.hold_back(stream);
  }
  Times& times = lanes_[lane].turns[lanes_[lane].submitted++ % 2];
  times.begun.record(stream);
  for (const DeviceCopy& copy : copies)
    if (!copy.destination.empty())
      check(cudaMemcpyAsync(copy.destination.data(), copy.source, copy.destination.size(),
                            cudaMemcpyDeviceToHost, stream.handle()),
            "cannot copy " + std::to_string(copy.destination.size()) + " bytes from the GPU");
  times.ended.record(stream);
  marks_.record(lane, stream);
}

bool CudaCopier::has_ended(std::size_t lane) {
  if (marks_.are_set()) return marks_.is_reached(lane);
  use_device();
  return waited_for(lane).ended.has_ended();
}

// For the calling thread; costs nothing where it is set.
void CudaCopier::use_device() const { check(cudaSetDevice(device_), "cannot use the GPU"); }

void CudaCopier::wait(std::size_t lane) {
  use_device();
  waited_for(lane).ended.synchronize();
}

std::chrono::nanoseconds CudaCopier::took(std::size_t lane) {
  use_device();
  const Times& times = waited_for(lane);
  ++lanes_[lane].asked_for;
  return times.ended.since(times.begun);
}

CudaCopier::Times& CudaCopier::waited_for(std::size_t lane) {
  return lanes_[lane].turns[lanes_[lane].asked_for % 2];
}

}  // namespace tailrace
