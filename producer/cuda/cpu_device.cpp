#include "producer/cuda/cpu_device.hpp"

#include <cstring>
#include <new>
#include <utility>

#include "producer/cuda/cpu_compute_clock.hpp"
#include "producer/cuda/cpu_copier.hpp"
#include "producer/cuda/cpu_uploader.hpp"

namespace tailrace {
namespace {

constexpr std::align_val_t kPage{4096};

class PlainMemory final : public HostMemory {
 public:
  explicit PlainMemory(std::size_t bytes)
      : bytes_(static_cast<std::byte*>(::operator new(bytes, kPage)), bytes) {}
  ~PlainMemory() override { ::operator delete(bytes_.data(), kPage); }
  std::span<std::byte> bytes() override { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

}  // namespace

CpuDevice::CpuDevice(std::string reason) : reason_(std::move(reason)) {}

std::string CpuDevice::description() const { return reason_.empty() ? "cpu" : "cpu (" + reason_ + ")"; }

std::unique_ptr<HostMemory> CpuDevice::allocate(std::size_t bytes) {
  return std::make_unique<PlainMemory>(bytes);
}

void CpuDevice::copy_to_host(std::span<std::byte> destination, const void* source) {
  if (!destination.empty()) std::memcpy(destination.data(), source, destination.size());
}

std::unique_ptr<Pin> CpuDevice::pin(std::span<std::byte>) { return std::make_unique<Pin>(); }

std::unique_ptr<Uploader> CpuDevice::make_uploader(std::size_t, std::size_t lane_count) {
  return std::make_unique<CpuUploader>(lane_count);
}

std::unique_ptr<ComputeClock> CpuDevice::make_compute_clock() { return std::make_unique<CpuComputeClock>(); }

std::unique_ptr<Copier> CpuDevice::make_copier(CopyStream, std::size_t lane_count) {
  return std::make_unique<CpuCopier>(lane_count);
}

}  // namespace tailrace
