#include "producer/cuda/cuda_device.hpp"

#include <string>

#include "producer/cuda/cuda_capture.hpp"
#include "producer/cuda/cuda_check.hpp"
#include "producer/cuda/cuda_compute_clock.hpp"
#include "producer/cuda/cuda_copier.hpp"
#include "producer/cuda/cuda_uploader.hpp"
#include "producer/cuda/link_probe.hpp"
#include "producer/cuda/pinned_memory.hpp"
#include "producer/errors.hpp"

namespace tailrace {
namespace {

class RegisteredMemory final : public Pin {
 public:
  explicit RegisteredMemory(std::span<std::byte> memory) : data_(memory.data()) {
    const cudaError_t status = cudaHostRegister(data_, memory.size(), cudaHostRegisterPortable);
    if (status == cudaSuccess) return;
    ignore_failure(status);
    throw CannotPin("cannot pin " + std::to_string(memory.size()) + " bytes: " + cudaGetErrorString(status));
  }
  ~RegisteredMemory() override { ignore_failure(cudaHostUnregister(data_)); }

 private:
  void* data_;
};

/// "cuda:0 (NVIDIA H200)"; makes the device current before the members that need it are built.
std::string make_current(int index) {
  check(cudaSetDevice(index), "cannot use cuda:" + std::to_string(index));
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, index), "cannot read the properties of the GPU");
  return "cuda:" + std::to_string(index) + " (" + properties.name + ")";
}

}  // namespace

CudaPresence find_cuda_devices() {
  CudaPresence presence;
  const cudaError_t status = cudaGetDeviceCount(&presence.device_count);
  if (status == cudaSuccess) return presence;
  (void)cudaGetLastError();
  return {0, cudaGetErrorString(status)};
}

CudaDevice::CudaDevice(int index) : index_(index), description_(make_current(index)) {}

int CudaDevice::numa_node() const {
  int node = -1;
  const cudaError_t status = cudaDeviceGetAttribute(&node, cudaDevAttrHostNumaId, index_);
  ignore_failure(status);  // a driver that does not know the attribute
  return status == cudaSuccess ? node : -1;
}

std::unique_ptr<HostMemory> CudaDevice::allocate(std::size_t bytes) {
  check(cudaSetDevice(index_), "cannot use " + description_);
  return std::make_unique<PinnedMemory>(bytes);
}

void CudaDevice::copy_to_host(std::span<std::byte> destination, const void* source) {
  if (!destination.empty())
    check(cudaMemcpyAsync(destination.data(), source, destination.size(), cudaMemcpyDeviceToHost,
                          compute_.view().handle()),
          "cannot copy " + std::to_string(destination.size()) + " bytes from the GPU");
  compute_.view().synchronize();
}

std::unique_ptr<Pin> CudaDevice::pin(std::span<std::byte> memory) {
  return std::make_unique<RegisteredMemory>(memory);
}

std::unique_ptr<Copier> CudaDevice::make_copier(CopyStream stream, std::size_t lane_count) {
  return std::make_unique<CudaCopier>(index_, compute_.view(), stream, lane_count);
}

std::unique_ptr<Uploader> CudaDevice::make_uploader(std::size_t lane_bytes, std::size_t lane_count) {
  return std::make_unique<CudaUploader>(compute_.view(), lane_bytes, lane_count);
}

std::unique_ptr<ComputeClock> CudaDevice::make_compute_clock() {
  return std::make_unique<CudaComputeClock>(compute_.view());
}

std::unique_ptr<Capture> CudaDevice::make_capture() { return std::make_unique<CudaCapture>(); }

std::optional<LinkFigures> CudaDevice::measure_link(std::span<std::byte> target) {
  return measure_cuda_link(compute_.view(), target);
}

}  // namespace tailrace
