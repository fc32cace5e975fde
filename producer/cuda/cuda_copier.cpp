#include "producer/cuda/cuda_copier.hpp"

#include <string>

#include "producer/cuda/cuda_check.hpp"

namespace tailrace {

CudaCopier::CudaCopier(int device, CudaStreamView compute, CopyStream stream, std::size_t lane_count)
    : device_(device), compute_(compute), ended_(lane_count), marks_(lane_count) {
  if (stream == CopyStream::kEgress) egress_.emplace();
}

void CudaCopier::submit(std::size_t lane, std::span<const DeviceCopy> copies) {
  const CudaStreamView stream = egress_ ? egress_->view() : compute_;
  // Two streams are ordered by the device, which takes microseconds: not where there is nothing to wait for.
  if (egress_ && !compute_.is_idle()) {
    computed_.record(compute_);
    computed_.hold_back(stream);
  }
  for (const DeviceCopy& copy : copies)
    if (!copy.destination.empty())
      check(cudaMemcpyAsync(copy.destination.data(), copy.source, copy.destination.size(),
                            cudaMemcpyDeviceToHost, stream.handle()),
            "cannot copy " + std::to_string(copy.destination.size()) + " bytes from the GPU");
  ended_[lane].record(stream);
  marks_.record(lane, stream);
}

bool CudaCopier::has_ended(std::size_t lane) {
  if (marks_.are_set()) return marks_.is_reached(lane);
  use_device();
  return ended_[lane].has_ended();
}

// For the calling thread; costs nothing where it is set.
void CudaCopier::use_device() const { check(cudaSetDevice(device_), "cannot use the GPU"); }

void CudaCopier::wait(std::size_t lane) {
  use_device();
  ended_[lane].synchronize();
}

}  // namespace tailrace
