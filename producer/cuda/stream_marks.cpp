#include "producer/cuda/stream_marks.hpp"

#include <atomic>
#include <cstring>
#include <string>

#include "producer/cuda/cuda_check.hpp"
#include "producer/errors.hpp"

namespace tailrace {

StreamMarks::StreamMarks(std::size_t count)
    : write_(find_write_value()), memory_(count * kStrideBytes), recorded_(count, 0) {
  std::memset(memory_.data(), 0, count * kStrideBytes);
}

StreamMarks::WriteValue StreamMarks::find_write_value() {
  constexpr unsigned int kSinceVersion = 12000;
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  const cudaError_t status = cudaGetDriverEntryPointByVersion("cuStreamWriteValue32", &function,
                                                              kSinceVersion, cudaEnableDefault, &found);
  ignore_failure(status);
  if (status != cudaSuccess || found != cudaDriverEntryPointSuccess) return nullptr;
  return reinterpret_cast<WriteValue>(function);
}

std::uint32_t* StreamMarks::word(std::size_t index) const noexcept {
  return reinterpret_cast<std::uint32_t*>(memory_.data() + index * kStrideBytes);
}

void StreamMarks::record(std::size_t index, CudaStreamView stream) {
  ++recorded_[index];
  if (!are_set()) return;
  // Host memory has the same address on the device. The default flags put a memory barrier before the write.
  const int status =
      write_(stream.handle(), reinterpret_cast<unsigned long long>(word(index)), recorded_[index], 0);
  if (status != 0) throw CudaError("cannot mark a stream: driver error " + std::to_string(status));
}

bool StreamMarks::is_reached(std::size_t index) const noexcept {
  return std::atomic_ref<std::uint32_t>(*word(index)).load(std::memory_order_acquire) == recorded_[index];
}

}  // namespace tailrace
