#include "producer/torch/compute_scope.hpp"

#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
#include <c10/core/InferenceMode.h>

#ifdef TAILRACE_WITH_CUDA
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

namespace tailrace {
namespace {

/// Autocast is thread-local: what was there comes back.
class AutocastGuard {
 public:
  AutocastGuard(at::DeviceType device, std::optional<at::ScalarType> type)
      : device_(device),
        was_enabled_(at::autocast::is_autocast_enabled(device)),
        old_type_(at::autocast::get_autocast_dtype(device)) {
    at::autocast::set_autocast_enabled(device, type.has_value());
    if (type) at::autocast::set_autocast_dtype(device, *type);
  }
  AutocastGuard(const AutocastGuard&) = delete;
  AutocastGuard& operator=(const AutocastGuard&) = delete;
  ~AutocastGuard() {
    at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(device_, was_enabled_);
    at::autocast::set_autocast_dtype(device_, old_type_);
  }

 private:
  at::DeviceType device_;
  bool was_enabled_;
  at::ScalarType old_type_;
};

}  // namespace

struct ComputeScope::Guards {
  Guards(const Device& device, std::optional<at::ScalarType> type)
      :
#ifdef TAILRACE_WITH_CUDA
        autocast(torch_device_of(device).type(), type) {
    if (device.is_cuda())
      stream.reset_stream(c10::cuda::getStreamFromExternal(device.compute_stream(),
                                                           static_cast<c10::DeviceIndex>(device.index())));
  }
#else
        autocast(torch_device_of(device).type(), type) {
  }
#endif

  c10::InferenceMode inference;
  AutocastGuard autocast;
#ifdef TAILRACE_WITH_CUDA
  c10::cuda::OptionalCUDAStreamGuard stream;
#endif
};

ComputeScope::ComputeScope(const Device& device, std::optional<at::ScalarType> autocast)
    : guards_(std::make_unique<Guards>(device, autocast)) {}

ComputeScope::~ComputeScope() = default;

at::Device torch_device_of(const Device& device) {
  if (!device.is_cuda()) return at::Device(at::kCPU);
  return {at::kCUDA, static_cast<c10::DeviceIndex>(device.index())};
}

void prepare_process(const Device& device, Precision precision) {
  at::Context& context = at::globalContext();
  // c10's stream guards ask hooks that only this call installs.
  if (device.is_cuda()) context.lazyInitDevice(at::kCUDA);
  context.setAllowTF32CuDNN(precision == Precision::kTf32);
  context.setAllowTF32CuBLAS(precision == Precision::kTf32);
  context.setBenchmarkCuDNN(true);
}

at::ScalarType compute_type_of(Precision precision) {
  switch (precision) {
    case Precision::kBf16:
      return at::kBFloat16;
    case Precision::kFp16:
      return at::kHalf;
    case Precision::kFp32:
    case Precision::kTf32:
      break;
  }
  return at::kFloat;
}

void finish_work([[maybe_unused]] const Device& device) {
#ifdef TAILRACE_WITH_CUDA
  if (device.is_cuda()) c10::cuda::getCurrentCUDAStream().synchronize();
#endif
}

void release_cached_memory([[maybe_unused]] const Device& device) {
#ifdef TAILRACE_WITH_CUDA
  if (device.is_cuda()) c10::cuda::CUDACachingAllocator::emptyCache();
#endif
}

}  // namespace tailrace
