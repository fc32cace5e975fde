#include <cstdint>

#include "tests/fuzz/fuzz_target.hpp"

// The names are libFuzzer's.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tailrace::fuzzing::run_one(std::as_bytes(std::span(data, size)));
  return 0;
}
