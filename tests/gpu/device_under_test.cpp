#include "tests/gpu/device_under_test.hpp"

#include <cstdlib>

#include "producer/cuda/cuda_device.hpp"

namespace tailrace {

std::string device_under_test() {
  const char* name = std::getenv("TAILRACE_TEST_DEVICE");
  return name == nullptr ? "cpu" : name;
}

bool tests_cuda() { return device_under_test() == "cuda"; }

std::string missing_device() {
  if (!tests_cuda()) return {};
  const CudaPresence presence = find_cuda_devices();
  return presence.device_count > 0 ? "" : "no CUDA device: " + presence.problem;
}

}  // namespace tailrace
