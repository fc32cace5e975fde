#pragma once

#include <string>

namespace tailrace {

/// Whether TAILRACE_TEST_DEVICE is "cuda". Otherwise the same tests run on the CPU, which tries the tests
/// themselves.
bool tests_cuda();

/// The device under test as pipeline.device names it.
std::string device_under_test();

/// Why the device under test cannot be tested: "no CUDA device", with the reason; empty: it can.
std::string missing_device();

}  // namespace tailrace
