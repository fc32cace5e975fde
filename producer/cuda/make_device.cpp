#include <cstdlib>
#include <memory>
#include <string>

#include "producer/cuda/cpu_device.hpp"
#include "producer/device.hpp"
#include "producer/errors.hpp"
#ifdef TAILRACE_WITH_CUDA
#include "producer/cuda/cuda_device.hpp"
#endif

namespace tailrace {
namespace {

#ifdef TAILRACE_WITH_CUDA
/// "; CUDA_VISIBLE_DEVICES is \"\"" where it is set: the usual reason for a GPU that is not seen.
std::string visible_devices_hint() {
  const char* value = std::getenv("CUDA_VISIBLE_DEVICES");  // NOLINT(concurrency-mt-unsafe): start-up
  return value == nullptr ? "" : "; CUDA_VISIBLE_DEVICES is \"" + std::string(value) + "\"";
}

std::string what_is_there(const CudaPresence& presence) {
  if (presence.device_count == 0)
    return "no CUDA device" + (presence.problem.empty() ? "" : ": " + presence.problem) +
           visible_devices_hint();
  const std::string last = std::to_string(presence.device_count - 1);
  return presence.device_count == 1 ? "only cuda:0" + visible_devices_hint()
                                    : "cuda:0 to cuda:" + last + visible_devices_hint();
}

std::unique_ptr<Device> make_cuda_or_auto(const DeviceConfig& config) {
  const CudaPresence presence = find_cuda_devices();
  if (config.kind == DeviceConfig::Kind::kAuto && presence.device_count == 0)
    return std::make_unique<CpuDevice>(what_is_there(presence));
  const int index = config.kind == DeviceConfig::Kind::kAuto ? 0 : config.index;
  if (index < 0 || index >= presence.device_count)
    throw NoSuchDevice("device cuda:" + std::to_string(index) + " is configured, but there is " +
                       what_is_there(presence) + "; set pipeline.device to what is there, or \"cpu\"");
  return std::make_unique<CudaDevice>(index);
}
#else
std::unique_ptr<Device> make_cuda_or_auto(const DeviceConfig& config) {
  if (config.kind == DeviceConfig::Kind::kAuto)
    return std::make_unique<CpuDevice>("built with a LibTorch without CUDA");
  throw NoSuchDevice("device cuda:" + std::to_string(config.index) +
                     " is configured, but this program was built with a LibTorch without CUDA; set "
                     "pipeline.device to \"cpu\", or build with a CUDA LibTorch");
}
#endif

}  // namespace

std::unique_ptr<Device> make_device(const DeviceConfig& config) {
  if (config.kind == DeviceConfig::Kind::kCpu) return std::make_unique<CpuDevice>();
  return make_cuda_or_auto(config);
}

}  // namespace tailrace
